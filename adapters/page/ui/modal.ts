import { useEffect, useRef } from 'preact/hooks'
import { useEscape } from './keyboard.js'

const FOCUSABLE =
  'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]'

const focusable = (dialog: HTMLElement): HTMLElement[] =>
  [...dialog.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(
    (element) => element.tabIndex >= 0 && element.checkVisibility(),
  )

function keepInside(event: KeyboardEvent): void {
  if (event.key !== 'Tab' || event.defaultPrevented) return
  const elements = focusable(event.currentTarget as HTMLElement)
  const [from, to] = event.shiftKey ? [0, -1] : [-1, 0]
  const isAtEnd = document.activeElement === elements.at(from)
  if (!isAtEnd && elements.includes(document.activeElement as HTMLElement)) return
  event.preventDefault()
  elements.at(to)?.focus()
}

/**
 * Makes an element a modal dialog: focus moves to `[data-first]` or the first control, stays inside,
 * and returns on close; Escape calls `close`. Spread the result onto the element.
 */
export function useModal(close: () => void) {
  const ref = useRef<HTMLElement>(null)
  useEscape(true, close)
  useEffect(() => {
    const before = document.activeElement
    const dialog = ref.current!
    const first = dialog.querySelector<HTMLElement>('[data-first]') ?? focusable(dialog)[0]
    first?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return { ref, onKeyDown: keepInside, role: 'dialog', 'aria-modal': true } as const
}

import { useLayoutEffect } from 'preact/hooks'
import { letterKeys } from '../data/preferences.js'

export type KeyHandler = (event: KeyboardEvent) => void

/** Shortcuts by `KeyboardEvent.key`. They work outside of fields, without Ctrl, Alt or Meta. */
const bindings = new Map<string, KeyHandler[]>()

/** Handlers of Escape. The last opened part is closed first. */
const closers: (() => void)[] = []

const FIELDS = 'input, textarea, select, [contenteditable], dialog, [role=dialog]'

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest(FIELDS) !== null

export function followKeys(): void {
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented) return
    if (event.key === 'Escape') {
      const close = closers.at(-1)
      if (!close) return
      event.preventDefault()
      close()
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const isLetter = event.key.length === 1
    if (isLetter && letterKeys.value === 'off') return
    bindings.get(event.key)?.at(-1)?.(event)
  })
}

/** Binds keys while the component is mounted. The last binding of a key wins. */
export function useKeys(handlers: Readonly<Record<string, KeyHandler>>): void {
  // A layout effect, so that shortcuts always match the shown elements.
  useLayoutEffect(() => {
    for (const [key, handler] of Object.entries(handlers))
      bindings.set(key, [...(bindings.get(key) ?? []), handler])
    return () => {
      for (const [key, handler] of Object.entries(handlers))
        bindings.set(
          key,
          bindings.get(key)!.filter((other) => other !== handler),
        )
    }
  })
}

/** While `isOpen`, Escape calls `close`, unless something was opened later. */
export function useEscape(isOpen: boolean, close: () => void): void {
  // A layout effect, so that the next key press already closes this part.
  useLayoutEffect(() => {
    if (!isOpen) return
    closers.push(close)
    return () => {
      closers.splice(closers.lastIndexOf(close), 1)
    }
  }, [isOpen])
}

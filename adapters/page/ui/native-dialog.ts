import { useLayoutEffect, useRef } from 'preact/hooks'
import { useEscape } from './keyboard.js'

interface DialogOptions {
  /** False if the rest of the page stays usable while the dialog is open. */
  readonly isModal: boolean
}

/**
 * Opens a `<dialog>` while it is mounted. Focus moves to the first control or the element with `autofocus`, and
 * returns on close. A modal dialog keeps it inside. Escape, and a press beside a modal dialog, call
 * `close`. Spread the result onto the element.
 */
export function useDialog(close: () => void, { isModal }: DialogOptions = { isModal: true }) {
  const ref = useRef<HTMLDialogElement>(null)
  useEscape(true, close)
  useLayoutEffect(() => {
    const opened = ref.current!
    if (isModal) opened.showModal()
    else opened.show()
    // `close` returns the focus; removing the element would not.
    return () => opened.close()
  }, [])
  return {
    ref,
    onCancel(event: Event) {
      // Removing the component closes the dialog.
      event.preventDefault()
      close()
    },
    onMouseDown({ target, clientX, clientY }: MouseEvent) {
      // The target of a press on the backdrop is the dialog. A press on its padding has the same target.
      if (!isModal || target !== ref.current) return
      const { left, right, top, bottom } = ref.current!.getBoundingClientRect()
      if (clientX < left || clientX > right || clientY < top || clientY > bottom) close()
    },
  } as const
}

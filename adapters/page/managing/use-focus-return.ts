import { useEffect, useRef } from 'preact/hooks'

/** Returns the focus, when the panel closes, to the element that opened it. */
export function useFocusReturn(): void {
  const opener = useRef(document.activeElement)
  useEffect(
    () => () => {
      const { activeElement } = document
      if (activeElement === null || activeElement === document.body)
        (opener.current as HTMLElement | null)?.focus()
    },
    [],
  )
}

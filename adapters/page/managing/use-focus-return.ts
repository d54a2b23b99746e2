import { useEffect, useRef } from 'preact/hooks'

/** Closing the panel returns the focus to what opened it. */
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

import { useLayoutEffect, useRef } from 'preact/hooks'

const STOPS = 'button:not(:disabled)'

const stopsIn = (element: ParentNode): HTMLElement[] => [
  ...element.querySelectorAll<HTMLElement>(STOPS),
]

/** The stop for a key: ← → along the row, ↑ ↓ Home End to the first stop of another row. */
function target(rows: readonly HTMLElement[][], from: HTMLElement, key: string) {
  const y = rows.findIndex((row) => row.includes(from))
  const row = rows[y] ?? []
  const x = row.indexOf(from)
  const targets: Readonly<Record<string, HTMLElement | undefined>> = {
    ArrowDown: rows[y + 1]?.[0],
    ArrowUp: rows[y - 1]?.[0],
    ArrowRight: row[x + 1],
    ArrowLeft: row[x - 1],
    Home: rows[0]?.[0],
    End: rows.at(-1)?.[0],
  }
  return targets[key]
}

/**
 * Makes the buttons in an element one tab stop: arrow keys, Home and End move among them (WAI-ARIA Authoring Practices,
 * roving tabindex). `row` selects the rows; without it, all buttons are one row. Spread the result onto the element.
 */
export function useRoving<Container extends HTMLElement>(row?: string) {
  const container = useRef<Container>(null)
  const current = useRef<HTMLElement | undefined>(undefined)
  // Runs after each render, because buttons come and go.
  useLayoutEffect(() => {
    if (!container.current) return
    const stops = stopsIn(container.current)
    const active = stops.includes(current.current!) ? current.current : stops[0]
    for (const stop of stops) stop.tabIndex = stop === active ? 0 : -1
  })
  return {
    ref: container,
    onFocusIn({ target: focused }: FocusEvent) {
      const stops = stopsIn(container.current!)
      if (!stops.includes(focused as HTMLElement)) return
      current.current = focused as HTMLElement
      for (const stop of stops) stop.tabIndex = stop === focused ? 0 : -1
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const rows =
        row === undefined
          ? [stopsIn(container.current!)]
          : [...container.current!.querySelectorAll(row)]
              .map(stopsIn)
              .filter(({ length }) => length)
      const next = target(rows, event.target as HTMLElement, event.key)
      if (!next) return
      event.preventDefault()
      next.focus()
    },
  } as const
}

import { useEffect, useState } from 'preact/hooks'
import { texts } from '../ui/texts.js'

/** Delay in milliseconds. Faster responses need no skeleton. */
const SKELETON_DELAY_MS = 150

const ROWS = 18
const LENGTHS = ['w3', 'w4', 'w5']

/** The cells of a row, and the widths of their bars. The bars of the sentences have different widths. */
const CELLS: readonly (readonly [name: string, width?: string])[] = [
  ['when', 'w1'],
  ['level', 'w8'],
  ['who', 'w2'],
  ['what'],
  ['type', 'w6'],
  ['src', 'w7'],
]

/** Placeholder rows in the real columns, while the first page loads. */
export function Skeleton() {
  const [isShown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), SKELETON_DELAY_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isShown) return null
  const { columns, loading } = texts.list
  return (
    <div class="list" aria-busy="true">
      <div class="head">
        <span>{columns.time}</span>
        <span class="visually-hidden">{loading}</span>
        <span>{columns.who}</span>
        <span>{columns.what}</span>
        <span>{columns.type}</span>
        <span>{columns.source}</span>
      </div>
      <div class="rows" id="events" aria-hidden="true">
        {Array.from({ length: ROWS }, (_, index) => (
          <div key={index} class="row">
            {CELLS.map(([name, width = LENGTHS[index % LENGTHS.length]]) => (
              <span key={name} class={name}>
                <span class={`skeleton-bar ${width}`} />
              </span>
            ))}
          </div>
        ))}
      </div>
    </div>
  )
}

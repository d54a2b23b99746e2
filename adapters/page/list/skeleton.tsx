import { useEffect, useState } from 'preact/hooks'
import { texts } from '../ui/texts.js'

/** What comes sooner needs no sign that it is coming. */
const PATIENCE_MS = 150

const ROWS = 18
const LENGTHS = ['w3', 'w4', 'w5']

const Bone = ({ of }: { of: string }) => <span class={`bone ${of}`} />

/** Rows that are on their way, in the real columns. */
export function Bones() {
  const [isShown, show] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => show(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!isShown) return null
  const { columns, loading } = texts.list
  return (
    <div class="list" aria-busy="true">
      <div class="head">
        <span>{columns.time}</span>
        <span class="sr">{loading}</span>
        <span>{columns.who}</span>
        <span>{columns.what}</span>
        <span>{columns.type}</span>
        <span>{columns.source}</span>
      </div>
      <div class="rows" id="events" aria-hidden="true">
        {Array.from({ length: ROWS }, (_, index) => (
          <div key={index} class="row">
            <span class="when">
              <Bone of="w1" />
            </span>
            <span class="lv">
              <Bone of="w8" />
            </span>
            <span class="who">
              <Bone of="w2" />
            </span>
            <span class="what">
              <Bone of={LENGTHS[index % LENGTHS.length]!} />
            </span>
            <span class="type">
              <Bone of="w6" />
            </span>
            <span class="src">
              <Bone of="w7" />
            </span>
          </div>
        ))}
      </div>
    </div>
  )
}

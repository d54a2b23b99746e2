import { useEffect, useState } from 'preact/hooks'
import { texts } from '../ui/texts.js'

/** Faster responses need no skeleton. */
const SKELETON_DELAY_MS = 150

const ROWS = 18
const LENGTHS = ['w3', 'w4', 'w5']

const SkeletonBar = ({ of }: { of: string }) => <span class={`skeleton-bar ${of}`} />

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
            <span class="when">
              <SkeletonBar of="w1" />
            </span>
            <span class="level">
              <SkeletonBar of="w8" />
            </span>
            <span class="who">
              <SkeletonBar of="w2" />
            </span>
            <span class="what">
              <SkeletonBar of={LENGTHS[index % LENGTHS.length]!} />
            </span>
            <span class="type">
              <SkeletonBar of="w6" />
            </span>
            <span class="src">
              <SkeletonBar of="w7" />
            </span>
          </div>
        ))}
      </div>
    </div>
  )
}

import { computed, signal } from '@preact/signals'
import { aimed, buckets, selection } from './chart-state.js'
import { roundBelow, segmentsOf } from './bar-segments.js'

/** Of a bar and the space beside it; the drawing is stretched to the chart's width. */
export const BAR = 12

const narrow = matchMedia('(max-width: 760px)')

export const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => (isNarrow.value = narrow.matches))

/** Pixels, as the style sheet has them. */
export const height = computed(() => (isNarrow.value ? 52 : 76))

/** Room for what rises above the scale because small numbers are drawn as well. */
const ABOVE = 6
const BELOW = 1.8

/** Fewer events do not fill the chart. */
const LEAST_SCALE = 4

/** What one event measures, and the number at the upper grid line. */
const scale = computed(() => {
  const most = Math.max(LEAST_SCALE, ...buckets.value.map(({ total }) => total))
  return { unit: (height.value - ABOVE - BELOW) / most, grid: roundBelow(most) }
})

const baseline = (): number => height.value - BELOW

/** The upper grid line, its number and its place in pixels. */
export const gridLine = computed(() => ({
  number: scale.value.grid,
  y: baseline() - scale.value.grid * scale.value.unit,
}))

const segments = computed(() =>
  buckets.value.map(({ levels }) => segmentsOf(levels, scale.value.unit, baseline())),
)

export function Grid() {
  const { y } = gridLine.value
  const middle = (y + baseline()) / 2
  const to = buckets.value.length * BAR
  return <path class="grid" d={`M0 ${y}H${to}M0 ${middle}H${to}`} />
}

export function Bars() {
  return (
    <>
      {segments.value.map((bar, i) =>
        bar.map(({ level, y, height }) => (
          <rect
            key={`${i}${level}`}
            class={`s l-${level}`}
            x={i * BAR + 1}
            y={y.toFixed(1)}
            width={BAR - 2}
            height={height.toFixed(1)}
          />
        )),
      )}
      <path class="base" d={`M0 ${height.value - 0.5}H${buckets.value.length * BAR}`} />
    </>
  )
}

/** Behind the bar that is looked at. */
export function Aim() {
  if (aimed.value === undefined || selection.value) return null
  return <rect class="aim" x={aimed.value * BAR} y="0" width={BAR} height={height.value} />
}

/** What is selected; the rest is dimmed. */
export function Brush() {
  if (!selection.value) return null
  const [from, to] = [selection.value.from * BAR, (selection.value.to + 1) * BAR]
  const end = buckets.value.length * BAR
  return (
    <>
      <rect class="dim" x="0" y="0" width={from} height={height.value - 1} />
      <rect class="dim" x={to} y="0" width={end - to} height={height.value - 1} />
      <rect class="brush" x={from} y="0" width={to - from} height={height.value - 0.5} />
    </>
  )
}

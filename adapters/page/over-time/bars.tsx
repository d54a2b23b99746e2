import { computed, signal } from '@preact/signals'
import { formatNumber } from '../data/format.js'
import { highlightedBar, buckets, selection } from './chart-state.js'
import { roundBelow, segmentsOf } from './bar-segments.js'

/** The width of a bar and its gap in drawing units; the drawing is stretched to the chart's width. */
export const BAR_WIDTH = 12

const narrow = matchMedia('(max-width: 760px)')

export const isNarrow = signal(narrow.matches)
narrow.addEventListener('change', () => (isNarrow.value = narrow.matches))

/** The height in pixels; must match the style sheet. */
export const chartHeight = computed(() => (isNarrow.value ? 32 : 76))

/** Space above the scale, for the number at the grid line. */
const ABOVE = 6
const BELOW = 1.8

/** The smallest maximum of the scale, so that a few events do not fill the chart. */
const MIN_SCALE = 4

/** The height of one event, and the number at the upper grid line. */
const scale = computed(() => {
  const max = Math.max(MIN_SCALE, ...buckets.value.map(({ total }) => total))
  return { unit: (chartHeight.value - ABOVE - BELOW) / max, grid: roundBelow(max) }
})

const baseline = (): number => chartHeight.value - BELOW

/** The upper grid line: its number and its y position in pixels. */
export const gridLine = computed(() => ({
  number: scale.value.grid,
  y: baseline() - scale.value.grid * scale.value.unit,
}))

const segments = computed(() =>
  buckets.value.map(({ levels }) => segmentsOf(levels, scale.value.unit, baseline())),
)

/** The width in pixels of the number beside the upper grid line: some padding, and seven for each digit. */
export const scaleWidth = computed(() => 8 + 7 * formatNumber(scale.value.grid).length)

export function Grid() {
  const { y } = gridLine.value
  const middle = (y + baseline()) / 2
  const to = buckets.value.length * BAR_WIDTH
  return <path class="grid" d={`M0 ${y}H${to}M0 ${middle}H${to}`} />
}

export function Bars() {
  return (
    <>
      {segments.value.map((bar, i) =>
        bar.map(({ level, y, height }) => (
          <rect
            key={`${i}${level}`}
            class={`bar-segment level-${level}`}
            x={i * BAR_WIDTH + 1}
            y={y.toFixed(1)}
            width={BAR_WIDTH - 2}
            height={height.toFixed(1)}
          />
        )),
      )}
      <path class="base" d={`M0 ${chartHeight.value - 0.5}H${buckets.value.length * BAR_WIDTH}`} />
    </>
  )
}

/** The highlight behind the bar under the pointer or the arrow keys. */
export function BarHighlight() {
  if (highlightedBar.value === undefined || selection.value) return null
  return (
    <rect
      class="bar-highlight"
      x={highlightedBar.value * BAR_WIDTH}
      y="0"
      width={BAR_WIDTH}
      height={chartHeight.value}
    />
  )
}

/** The selected bars. Other bars are dimmed. */
export function Selection() {
  if (!selection.value) return null
  const [from, to] = [selection.value.from * BAR_WIDTH, (selection.value.to + 1) * BAR_WIDTH]
  const end = buckets.value.length * BAR_WIDTH
  return (
    <>
      <rect class="dim" x="0" y="0" width={from} height={chartHeight.value - 1} />
      <rect class="dim" x={to} y="0" width={end - to} height={chartHeight.value - 1} />
      <rect class="brush" x={from} y="0" width={to - from} height={chartHeight.value - 0.5} />
    </>
  )
}

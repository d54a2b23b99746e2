import { computed } from '@preact/signals'
import { formatNumber } from '../data/format.js'
import { useEscape } from '../ui/keyboard.js'
import { timesOnScreen } from '../list/interaction.js'
import { scrollToTime } from '../list/row-focus.js'
import { texts } from '../ui/texts.js'
import { announce } from '../ui/notes.js'
import { managed, openId } from '../data/address.js'
import { counts } from '../data/counts.js'
import { areBarsExact } from '../data/matching.js'
import { axisLabels } from './axis.js'
import {
  BarHighlight,
  BAR_WIDTH,
  Bars,
  Selection,
  Grid,
  gridLine,
  chartHeight,
  isNarrow,
} from './bars.js'
import {
  highlightedBar,
  buckets,
  dropSelection,
  edges,
  endsNow,
  selection,
  zoomTo,
} from './chart-state.js'
import { cancelDrag, pointerPosition, pointerHandlers } from './drag.js'
import { highestOf } from './bar-segments.js'
import { barText, labelText, selectionText, widthText } from './bar-labels.js'
import { positionOf, barRange, timeAt } from './timeline.js'
import { Tooltip } from './tooltip.js'

/** The bar where the selection with Shift started. */
let anchor: number | undefined

const STEPS: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowLeft: (at) => at - 1,
  ArrowRight: (at) => at + 1,
  Home: () => 0,
  End: (_at, last) => last,
}

function moveHighlight(step: (at: number, last: number) => number, isSelecting: boolean): void {
  const last = buckets.value.length - 1
  const at = highlightedBar.value ?? last
  const next = Math.min(last, Math.max(0, step(at, last)))
  highlightedBar.value = next
  if (isSelecting) {
    if (!selection.value) anchor = at
    selection.value = barRange(anchor ?? at, next)
    announce(selectionText(selection.value), true)
  } else {
    dropSelection()
    announce(barText(buckets.value[next]!), true)
  }
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || buckets.value.length === 0) return
  const step = STEPS[event.key]
  const chosen =
    selection.value ??
    (highlightedBar.value === undefined
      ? undefined
      : barRange(highlightedBar.value, highlightedBar.value))
  if (step) moveHighlight(step, event.shiftKey)
  else if (event.key === 'Enter' && chosen) zoomTo(chosen)
  else return
  event.preventDefault()
}

function onFocus({ currentTarget }: FocusEvent): void {
  const isByKey = (currentTarget as Element).matches(':focus-visible')
  if (isByKey && buckets.value.length > 0) highlightedBar.value ??= buckets.value.length - 1
}

/** The chart in one sentence, for screen readers. */
function summary(): string {
  const highest = highestOf(buckets.value)
  if (!highest) return texts.chart.empty
  // If the bars are lower bounds, the highest bar need not be the peak.
  return areBarsExact.value
    ? texts.chart.summary(widthText(), barText(highest))
    : texts.chart.tableCaption(widthText())
}

/** Marks the time range that the list has on screen. */
function VisibleTimeMark() {
  const bars = buckets.value.length
  const seen = timesOnScreen.value
  if (bars === 0 || !seen) return <svg class="visible-range" aria-hidden="true" />
  const [from, to] = [seen.from, seen.to].map(
    (time) => positionOf(edges.value, Date.parse(time)) * bars * BAR_WIDTH,
  ) as [number, number]
  const width = Math.max(BAR_WIDTH / 2, to - from)
  return (
    <svg
      class="visible-range"
      viewBox={`0 0 ${bars * BAR_WIDTH} 4`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <rect
        class="view"
        x={Math.min(from, bars * BAR_WIDTH - width)}
        width={width}
        height="3"
        rx="1.5"
      />
    </svg>
  )
}

const labels = computed(() => {
  const zone = counts.value?.buckets?.zone
  // An open panel leaves room for fewer labels.
  const maxLabels =
    isNarrow.value || openId.value !== undefined || managed.value !== undefined ? 5 : 10
  return zone === undefined ? [] : axisLabels(edges.value, zone, maxLabels)
})

/** Labels this close to an edge are aligned to stay inside the chart, or hidden in favour of "now". */
const EDGE = 0.03

const anchorAt = (place: number): string => {
  if (place < EDGE) return 'start'
  return place > 1 - EDGE ? 'end' : 'middle'
}

function Axis() {
  const shown = labels.value.filter(({ place }) => !endsNow.value || place < 1 - 2 * EDGE)
  return (
    <svg
      class="axis"
      aria-hidden="true"
      onClick={(event) => {
        if (buckets.value.length === 0) return
        scrollToTime(new Date(timeAt(edges.value, pointerPosition(event))).toISOString())
      }}
    >
      {shown.map(({ place, time, precision }) => (
        <text key={time} x={`${place * 100}%`} y="11" text-anchor={anchorAt(place)}>
          {labelText(time, precision)}
        </text>
      ))}
      {endsNow.value && (
        <text x="100%" y="11" text-anchor="end">
          {texts.chart.now}
        </text>
      )}
    </svg>
  )
}

export function Chart() {
  const bars = buckets.value.length
  useEscape(selection.value !== undefined, cancelDrag)
  return (
    <>
      <div
        class="chart"
        tabIndex={0}
        role="group"
        aria-label={texts.chart.keys}
        onKeyDown={onKeyDown}
        onFocus={onFocus}
        onBlur={() => (highlightedBar.value = undefined)}
      >
        <svg
          class="bars"
          viewBox={`0 0 ${Math.max(1, bars) * BAR_WIDTH} ${chartHeight.value}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={summary()}
          {...pointerHandlers}
        >
          <BarHighlight />
          {bars > 0 && <Grid />}
          <Bars />
          <Selection />
        </svg>
        <VisibleTimeMark />
        {bars > 0 && (
          <span class="ymax" style={{ top: `${gridLine.value.y - 7}px` }} aria-hidden="true">
            {formatNumber(gridLine.value.number)}
          </span>
        )}
        <Tooltip />
      </div>
      <Axis />
    </>
  )
}

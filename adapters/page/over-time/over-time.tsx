import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { may } from '../data/account.js'
import { zone } from '../data/address.js'
import { areCountsStale, recount, countedRange, countError, counts } from '../data/counts.js'
import { matching } from '../data/matching.js'
import { eventsText } from '../ui/count-text.js'
import { dayKey, formatShort } from '../data/format.js'
import { formatMinute } from '../data/more-formats.js'
import { useKeys } from '../ui/keyboard.js'
import { lazy } from '../ui/lazy.js'
import { cityOf } from '../ui/range-text.js'
import { texts } from '../ui/texts.js'
import { announce } from '../ui/notes.js'
import { scaleWidth } from './bars.js'
import { Chart } from './chart.js'
import {
  edges,
  endsNow,
  followPresent,
  isZoomed,
  moveWindow,
  selection,
  zoomOut,
} from './chart-state.js'
import { Legend } from './legend.js'
import { ReplacingRange } from './replacing-range.js'
import { SubscribeLinks } from './subscribe-links.js'
import { ViewButton } from './view-button.js'
import { DisplayLinks } from './display-links.js'
import { rangeLabel, widthText } from './bar-labels.js'

const NumbersTable = lazy(() => import('./numbers-table.js'), 'NumbersTable')

const isTable = signal(false)

const toggleTable = (): void => {
  isTable.value = !isTable.value
}

function endText(begin: Date, to: string | undefined): string {
  if (to === undefined && (endsNow.value || edges.value.length === 0)) return texts.chart.now
  const end = new Date(to ?? edges.value.at(-1)!)
  return dayKey(begin) === dayKey(end) ? formatMinute(end) : formatShort(end)
}

/** The time range of the chart; with a selection, the selected range and how to zoom in. */
function rangeText(): string {
  if (selection.value) return texts.chart.selected(rangeLabel(selection.value))
  const { from, to } = countedRange.value
  const [first] = edges.value
  const begin = from === undefined ? first : Date.parse(from)
  if (begin === undefined) return ''
  const whole = texts.chart.range(formatShort(new Date(begin)), endText(new Date(begin), to))
  return first === undefined ? whole : `${whole}, ${texts.chart.perBar(widthText())}`
}

function CountFailure() {
  if (!countError.value) return null
  return (
    <span>
      {counts.value ? texts.chart.stale : texts.chart.uncounted}{' '}
      <button type="button" class="link" onClick={recount}>
        {texts.chart.again}
      </button>
    </span>
  )
}

/** Without the right to count, there is a heading only. */
function Uncounted({ title }: { title: string }) {
  return (
    <section class="over-time uncounted" aria-label={texts.chart.region}>
      <div class="over-time-head">
        <h1>{title}</h1>
        <SubscribeLinks />
      </div>
    </section>
  )
}

export function OverTime() {
  useKeys({
    t: toggleTable,
    '[': () => moveWindow(-1),
    ']': () => moveWindow(1),
  })
  useEffect(followPresent, [])
  const number = matching.value
  const text = number && eventsText(number.total, number.exact)
  const isOld = areCountsStale.value
  useEffect(() => {
    if (text !== undefined && !isOld) announce(text)
  }, [text === undefined, isOld])
  if (!may('count')) return <Uncounted title={text ?? texts.chart.title} />
  return (
    <section
      class={isOld ? 'over-time is-stale' : 'over-time'}
      style={{ '--scale': `${scaleWidth.value}px` }}
      aria-label={texts.chart.region}
    >
      <ReplacingRange />
      <div class="over-time-head">
        <h1>{text ?? texts.chart.title}</h1>
        <DisplayLinks />
        <ViewButton />
        <SubscribeLinks />
        <span class="phone-only">{cityOf(zone.value)}</span>
        {counts.value && <span class="range-text">{rangeText()}</span>}
        {isZoomed.value && (
          <button type="button" class="link" onClick={zoomOut}>
            {texts.chart.zoomOut}
          </button>
        )}
        <CountFailure />
        <Legend />
      </div>
      <Chart />
      {edges.value.length > 0 && (
        <button
          type="button"
          class="link as-table"
          aria-expanded={isTable.value}
          onClick={toggleTable}
        >
          {texts.chart.table}
        </button>
      )}
      {isTable.value && <NumbersTable close={toggleTable} />}
    </section>
  )
}

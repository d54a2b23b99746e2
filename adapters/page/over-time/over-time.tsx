import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { areOld, countAgain, countedRange, countingFault, counts } from '../data/counts.js'
import { eventsText } from '../ui/count-text.js'
import { dayKey, formatMinute, formatShort } from '../data/format.js'
import { useKeys } from '../ui/keyboard.js'
import { texts } from '../ui/texts.js'
import { announce } from '../ui/notes.js'
import { Chart } from './chart.js'
import { edges, isZoomed, moveWindow, selection, zoomOut } from './chart-state.js'
import { Legend } from './legend.js'
import { NumbersTable } from './numbers-table.js'
import { stretchText, widthText } from './bar-labels.js'

const isTable = signal(false)

const toggleTable = (): void => {
  isTable.value = !isTable.value
}

function endText(begin: Date, to: string | undefined): string {
  if (to === undefined) return texts.chart.now
  const end = new Date(to)
  return dayKey(begin) === dayKey(end) ? formatMinute(end) : formatShort(end)
}

/** What the chart shows, and while something is selected, how to go there. */
function stretch(): string {
  if (selection.value) return texts.chart.select(stretchText(selection.value))
  const { from, to } = countedRange.value
  const [first] = edges.value
  const begin = from === undefined ? first : Date.parse(from)
  if (begin === undefined) return ''
  const whole = texts.chart.stretch(formatShort(new Date(begin)), endText(new Date(begin), to))
  return first === undefined ? whole : `${whole}, ${texts.chart.aBar(widthText())}`
}

function Stale() {
  if (!countingFault.value) return null
  return (
    <span>
      {counts.value ? texts.chart.stale : texts.chart.uncounted}{' '}
      <button type="button" class="link" onClick={countAgain}>
        {texts.chart.again}
      </button>
    </span>
  )
}

export function OverTime() {
  useKeys({
    t: toggleTable,
    '[': () => moveWindow(-1),
    ']': () => moveWindow(1),
  })
  const total = counts.value?.total
  const isOld = areOld.value
  useEffect(() => {
    if (total !== undefined && !isOld) announce(eventsText(total))
  }, [total === undefined, isOld])
  return (
    <section class={isOld ? 'over-time is-old' : 'over-time'} aria-label={texts.chart.region}>
      <div class="over-time-head">
        <h1>{total === undefined ? texts.chart.title : eventsText(total)}</h1>
        {counts.value && <span>{stretch()}</span>}
        {isZoomed.value && (
          <button type="button" class="link" onClick={zoomOut}>
            {texts.chart.zoomOut}
          </button>
        )}
        <Stale />
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

import type { Bucket } from '../../../src/store/counts.js'
import { counts } from '../data/counts.js'
import { areBarsExact } from '../data/matching.js'
import { eventsText } from '../ui/count-text.js'
import { formatPlural, formatSecond } from '../data/format.js'
import {
  formatDayMonth,
  formatDayOffset,
  formatMinute,
  formatMinuteOffset,
  formatMonth,
  formatWeekdayMinute,
} from '../data/more-formats.js'
import { texts } from '../ui/texts.js'
import type { Precision } from './axis.js'
import { buckets } from './chart-state.js'
import type { BarRange } from './timeline.js'

const DAY = 86_400

const formatsOf: Readonly<Record<Precision, (time: Date) => string>> = {
  second: formatSecond,
  minute: formatMinute,
  minuteOffset: formatMinuteOffset,
  day: formatDayMonth,
  dayOffset: formatDayOffset,
  month: formatMonth,
}

export const labelText = (time: number, precision: Precision): string =>
  formatsOf[precision](new Date(time))

const width = (): number => counts.value?.buckets?.width ?? DAY

/** The width of a bar: `15 minutes`. */
export function widthText(): string {
  const [seconds, one, other] = texts.chart.widths.find(([seconds]) => width() >= seconds)!
  return formatPlural(Math.round(width() / seconds), one, other)
}

const precision = (): Precision => {
  if (width() >= 28 * DAY) return 'month'
  if (width() >= DAY) return 'day'
  return width() >= 60 ? 'minute' : 'second'
}

/** The start of a bar: `02:15`, or with more precision if bars need it. */
export const barTime = ({ from }: Bucket): string => labelText(Date.parse(from), precision())

/** `Fri 02:15 to 02:30`; for days and months, the first and the last. */
export function rangeLabel({ from, to }: BarRange): string {
  const [first, last] = [buckets.value[from]!, buckets.value[to]!]
  const [begin, end] = [Date.parse(first.from), Date.parse(last.to)]
  if (width() >= DAY) {
    const [one, other] = [labelText(begin, precision()), labelText(end - 1, precision())]
    return one === other ? one : texts.chart.range(one, other)
  }
  if (precision() === 'second')
    return texts.chart.range(labelText(begin, 'second'), labelText(end, 'second'))
  const format = end - begin < (DAY / 2) * 1000 ? formatMinute : formatWeekdayMinute
  return texts.chart.range(formatWeekdayMinute(new Date(begin)), format(new Date(end)))
}

const errorsOf = (bars: readonly Bucket[]): number =>
  bars.reduce((sum, { levels }) => sum + (levels.error ?? 0), 0)

/** `63 events, 11 errors`. */
function numbersText(bars: readonly Bucket[]): string {
  const total = bars.reduce((sum, bar) => sum + bar.total, 0)
  const errors = areBarsExact.value ? errorsOf(bars) : 0
  return [
    eventsText(total, areBarsExact.value),
    ...(errors > 0 ? [texts.chart.errors(errors)] : []),
  ].join(', ')
}

/** `02:15, 63 events, 11 errors`. */
export const barText = (bar: Bucket): string => `${barTime(bar)}, ${numbersText([bar])}`

/** `01:45 to 03:15, 120 events`. */
export const selectionText = (range: BarRange): string =>
  `${rangeLabel(range)}, ${numbersText(buckets.value.slice(range.from, range.to + 1))}`

import { formatShort } from '../data/format.js'
import type { Range } from '../data/query.js'
import { texts } from './texts.js'

/** `24 hours` for `24h`, `Yesterday` for `yesterday`. */
function lengthText(last: string): string {
  const count = Number.parseInt(last, 10)
  return count ? texts.range.units[last.slice(-1)]!(count) : texts.range.ranges[last]!
}

const timeText = (time: string): string => {
  const at = new Date(time)
  return Number.isNaN(at.getTime()) ? time : formatShort(at)
}

/** `Last 24 hours`, `Thu 19 Nov 14:06 to Fri 20 Nov 14:06`. */
export function rangeText(range: Range): string {
  const { ranges, last, all, between, since, until } = texts.range
  if ('last' in range) return ranges[range.last] ?? last(lengthText(range.last))
  const { from, to } = range
  if (from === undefined) return to === undefined ? all : until(timeText(to))
  return to === undefined ? since(timeText(from)) : between(timeText(from), timeText(to))
}

/** A short form for narrow places: `24 hours`. */
export function shortRangeText(range: Range): string {
  if ('last' in range) return lengthText(range.last)
  return range.from === undefined && range.to === undefined ? texts.range.all : texts.range.title
}

/** The name of a time zone for narrow places: `New York`, or `UTC`. */
export const cityOf = (zone: string): string =>
  zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')

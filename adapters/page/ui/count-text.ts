import { formatNumber } from '../data/format.js'
import { texts } from './texts.js'

/** A number for narrow places: `2,163`, or `≥2,163` for a lower bound. A lower bound of 0 is left out. */
export function shortNumber(count: number, isExact: boolean | undefined): string {
  if (isExact) return formatNumber(count)
  return count > 0 ? `≥${formatNumber(count)}` : ''
}

/** `2,163 events`, or `at least 2,163 events` for a lower bound. */
export function eventsText(count: number, isExact: boolean | undefined): string {
  if (isExact) return texts.common.events(count)
  return count > 0 ? texts.common.atLeast(texts.common.events(count)) : texts.common.counting
}

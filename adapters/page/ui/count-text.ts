import { formatNumber } from '../data/format.js'
import { texts } from './texts.js'
import { counts } from '../data/counts.js'

/** A number of events for narrow places: `2,163`, or `≈2,163` for an estimate. */
export function shortNumber(count: number, isEstimate = counts.value?.sampled): string {
  const text = formatNumber(count)
  return isEstimate ? `≈${text}` : text
}

/** `2,163 events`, or `about 2,163 events` for an estimate. */
export function eventsText(count: number): string {
  const text = texts.common.events(count)
  return counts.value?.sampled ? texts.common.about(text) : text
}

import { type Duration, milliseconds } from 'date-fns'
import type { Microseconds } from './timestamp.js'

const CALENDAR_UNITS = ['years', 'months'] as const
const FIXED_UNITS = ['weeks', 'days', 'hours', 'minutes', 'seconds'] as const

// Dates and times reach a little further.
const LONGEST_MS = milliseconds({ years: 1000 })

const isUnit = (unit: string): boolean =>
  [...CALENDAR_UNITS, ...FIXED_UNITS].some((known) => known === unit)

/** Why the value is no length of time, or `undefined` where it is one. */
export function durationFault(value: unknown): string | undefined {
  const example = 'must be a date-fns Duration such as { days: 30 }'
  if (value === null || typeof value !== 'object') return example
  const parts = Object.entries(value).filter(([, count]) => count !== undefined)
  if (!parts.every(([unit, count]) => isUnit(unit) && Number.isFinite(count) && count >= 0))
    return example
  const duration = value as Duration
  if (CALENDAR_UNITS.some((unit) => !Number.isInteger(duration[unit] ?? 0)))
    return 'must have whole years and months'
  const length = milliseconds(duration)
  return length > 0 && length <= LONGEST_MS ? undefined : 'must be from a moment to 1000 years long'
}

/** So long before the time: as `sub` of date-fns, but in UTC whatever the zone of the host. */
export function subtract(time: Microseconds, duration: Duration): Microseconds {
  return shift(time, duration, -1)
}

/** So long after the time: as `add` of date-fns, but in UTC whatever the zone of the host. */
export function add(time: Microseconds, duration: Duration): Microseconds {
  return shift(time, duration, 1)
}

function shift(time: Microseconds, duration: Duration, sign: 1 | -1): Microseconds {
  const { years = 0, months = 0, ...fixed } = duration
  const ms = Math.floor(time / 1000)
  const shifted = addMonths(ms, sign * (12 * years + months)) + sign * milliseconds(fixed)
  return Math.round(shifted * 1000) + (time - ms * 1000)
}

/** The same day of another month, or that month's last day where it has no such day. */
function addMonths(ms: number, months: number): number {
  const date = new Date(ms)
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  // A day too many has run over into the month after; day 0 is the last one of the month before.
  if (date.getUTCDate() !== day) date.setUTCDate(0)
  return date.getTime()
}

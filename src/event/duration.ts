import { UTCDateMini } from '@date-fns/utc/date/mini'
import { addMonths } from 'date-fns/addMonths'
import { milliseconds } from 'date-fns/milliseconds'
import type { Microseconds } from './timestamp.js'

/** The `Duration` of date-fns, whose module of types is not exported under a name of its own. */
export type Duration = Parameters<typeof milliseconds>[0]

const CALENDAR_UNITS = ['years', 'months'] as const
const FIXED_UNITS = ['weeks', 'days', 'hours', 'minutes', 'seconds'] as const

// Within the range of timestamps.
const MAX_MS = milliseconds({ years: 1000 })

const isUnit = (unit: string): boolean =>
  [...CALENDAR_UNITS, ...FIXED_UNITS].some((known) => known === unit)

/** Why the value is not a duration, or `undefined` if it is one. */
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
  return length > 0 && length <= MAX_MS ? undefined : 'must be longer than 0 and at most 1000 years'
}

/** The time minus the duration: like `sub` of date-fns, but always in UTC. */
export function subtract(time: Microseconds, duration: Duration): Microseconds {
  return shift(time, duration, -1)
}

/** The time plus the duration: like `add` of date-fns, but always in UTC. */
export function add(time: Microseconds, duration: Duration): Microseconds {
  return shift(time, duration, 1)
}

function shift(time: Microseconds, duration: Duration, sign: 1 | -1): Microseconds {
  const { years = 0, months = 0, ...fixed } = duration
  const ms = Math.floor(time / 1000)
  const inMonth = addMonths(new UTCDateMini(ms), sign * (12 * years + months)).getTime()
  // Not `add`, which drops fractions of days.
  const shifted = inMonth + sign * milliseconds(fixed)
  return Math.round(shifted * 1000) + (time - ms * 1000)
}

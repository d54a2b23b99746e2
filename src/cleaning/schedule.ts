import type { Duration } from 'date-fns'
import type { Microseconds } from '../event/timestamp.js'
import { add } from '../event/duration.js'

/** Every so often, or at a time of day: so long after midnight, UTC. */
export type Schedule = { readonly every: Duration } | { readonly at: Microseconds }

const MINUTE: Microseconds = 60_000_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/

/** `03:30` as the time since midnight, or `undefined` where the text is no time of day. */
export function parseTimeOfDay(text: string): Microseconds | undefined {
  const match = TIME_OF_DAY.exec(text)
  return match ? Number(match[1]) * HOUR + Number(match[2]) * MINUTE : undefined
}

/** The first turn after `time`. */
export function turnAfter(schedule: Schedule, time: Microseconds): Microseconds {
  if ('every' in schedule) return add(time, schedule.every)
  // All days are of one length in UTC.
  const today = Math.floor(time / DAY) * DAY + schedule.at
  return today > time ? today : today + DAY
}

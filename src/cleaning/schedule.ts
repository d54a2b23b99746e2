import { DAY, HOUR, type Microseconds, MINUTE } from '../event/timestamp.js'
import { type Duration, add } from '../event/duration.js'

/** An interval, or a time of day in microseconds after midnight UTC. */
export type Schedule = { readonly every: Duration } | { readonly at: Microseconds }

const TIME_OF_DAY = /^([01]\d|2[0-3]):([0-5]\d)$/

/** Reads a time such as `03:30`; `undefined` if the text is not a time of day. */
export function parseTimeOfDay(text: string): Microseconds | undefined {
  const match = TIME_OF_DAY.exec(text)
  return match ? Number(match[1]) * HOUR + Number(match[2]) * MINUTE : undefined
}

/** The first time of the schedule after `time`. */
export function nextTimeAfter(schedule: Schedule, time: Microseconds): Microseconds {
  if ('every' in schedule) return add(time, schedule.every)
  // In UTC all days have the same length.
  const today = Math.floor(time / DAY) * DAY + schedule.at
  return today > time ? today : today + DAY
}

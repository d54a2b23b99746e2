import type { RangeEnds } from './query.js'
import { fromWallClock, offsetText, timesAt, toWallClock } from './zoned-time.js'

/*
 * Ranges with the name of a period, such as `yesterday` or `last-week`. Their days are days in the zone of the page.
 * Weeks start on Monday (ISO 8601).
 */

const DAY_MS = 86_400_000

interface Period {
  readonly unit: 'day' | 'week' | 'month'
  /** 0 for the current period, -1 for the one before. */
  readonly shift: 0 | -1
}

const PERIODS: Readonly<Record<string, Period>> = {
  today: { unit: 'day', shift: 0 },
  yesterday: { unit: 'day', shift: -1 },
  'this-week': { unit: 'week', shift: 0 },
  'last-week': { unit: 'week', shift: -1 },
  'this-month': { unit: 'month', shift: 0 },
  'last-month': { unit: 'month', shift: -1 },
}

/** The names of calendar ranges, as the address has them. */
export const CALENDAR_RANGES: readonly string[] = Object.keys(PERIODS)

/** Functions from the local day of now to the first day of a period, both as if local time were UTC. */
const STARTS: Readonly<Record<Period['unit'], (day: Date, shift: number) => number>> = {
  day: (day, shift) => day.getTime() + shift * DAY_MS,
  // `getUTCDay` is 0 on Sundays.
  week: (day, shift) => day.getTime() - (((day.getUTCDay() + 6) % 7) - 7 * shift) * DAY_MS,
  month: (day, shift) => Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + shift, 1),
}

/** The local date `2026-11-20` of a time. */
export const localDay = (time: Date, timeZone: string): string =>
  toWallClock(time, timeZone).slice(0, 10)

const MINUTE_MS = 60_000

const secondOf = (time: number): string => new Date(time).toISOString().slice(0, 19)

/**
 * Converts a local time that is given as if it were UTC. If clocks skip it, returns the time at which they change.
 */
export function fromLocal(wall: number, timeZone: string): string {
  const time = fromWallClock(secondOf(wall), timeZone)!
  if (timesAt(wall, timeZone).length > 0) return time
  let at = Math.floor(Date.parse(time) / MINUTE_MS) * MINUTE_MS
  const offsetOf = (time: number): string => offsetText(new Date(time), timeZone)
  while (offsetOf(at - MINUTE_MS) === offsetOf(at)) at -= MINUTE_MS
  return `${secondOf(at)}Z`
}

/** The ends of a calendar range. The current day, week or month has no end. `undefined` for other names. */
export function calendarRange(name: string, now: Date, timeZone: string): RangeEnds | undefined {
  const period = Object.hasOwn(PERIODS, name) ? PERIODS[name] : undefined
  if (!period) return undefined
  const day = new Date(localDay(now, timeZone))
  const start = (shift: number): string => fromLocal(STARTS[period.unit](day, shift), timeZone)
  return { from: start(period.shift), to: period.shift === 0 ? undefined : start(0) }
}

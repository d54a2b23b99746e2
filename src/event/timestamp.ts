/**
 * Whole microseconds since 1970-01-01 UTC. The number is exact until the year 2255 (2^53
 * microseconds). `Date` holds only milliseconds.
 */
export type Microseconds = number

/** Returns the current time. Stores take a clock as an option, so that tests can set the time. */
export interface Clock {
  (): Microseconds
  /**
   * Milliseconds on a clock that is never set, such as `performance.now()`. With it, a store detects
   * that the clock has jumped ahead; without it, the store follows such jumps.
   */
  readonly monotonic?: (() => number) | undefined
  /**
   * Only on the clock that a store shows: the microseconds by which the underlying clock is ahead of it, while that
   * clock is in doubt.
   */
  readonly ahead?: (() => Microseconds) | undefined
}

/* Durations in microseconds. */
export const SECOND: Microseconds = 1_000_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** How far the fine clock may differ from the wall clock before it is reset, in microseconds. */
const MAX_DRIFT = 2_000
/** How often to compare it with the wall clock, in microseconds. */
const CHECK_EVERY = 500

/**
 * A clock with microsecond resolution that follows the system's wall clock: `performance.now()` plus
 * an anchor, which is renewed when the wall clock differs by more than 2 ms.
 */
export function systemClock(): Clock {
  // Faked timers of a test runner may leave out `timeOrigin`.
  let anchor = (performance.timeOrigin || Date.now() - performance.now()) * 1000
  let checkedAt = -Infinity
  const read = (): Microseconds => {
    const elapsed = performance.now() * 1000
    if (elapsed - checkedAt < CHECK_EVERY) return Math.floor(anchor + elapsed)
    checkedAt = elapsed
    const wall = Date.now() * 1000
    // The wall clock shows the start of its millisecond, so an exact clock is 0 to 1 ms ahead of it.
    const drift = anchor + elapsed - wall
    if (!(drift >= -MAX_DRIFT && drift <= MAX_DRIFT + 1000)) anchor = wall - elapsed
    return Math.floor(anchor + elapsed)
  }
  return Object.assign(read, { monotonic: () => performance.now() })
}

// Days <-> civil date: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms".
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year
  const era = Math.floor(y / 400)
  const yearOfEra = y - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468
  const era = Math.floor(z / 146_097)
  const dayOfEra = z - era * 146_097
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  )
  const dayOfYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shifted = Math.floor((5 * dayOfYear + 2) / 153)
  const month = shifted < 10 ? shifted + 3 : shifted - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1,
  }
}

const pad = (value: number, digits: number): string => String(value).padStart(digits, '0')

const MIN_TIME = daysFromCivil(0, 1, 1) * DAY
const MAX_TIME = daysFromCivil(10_000, 1, 1) * DAY - SECOND

// Successive events often share their second, so its text is cached.
let cachedSecond = Number.NaN
let cachedPrefix = ''

/** Text such as `2026-03-01T12:00:00.000042Z`: UTC with six fractional digits, so it sorts by time. */
export function formatTimestamp(time: Microseconds): string {
  const second = Math.floor(time / SECOND)
  if (second !== cachedSecond) {
    const days = Math.floor(second / 86_400)
    const { year, month, day } = civilFromDays(days)
    const rest = second - days * 86_400
    const clock = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60]
    const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`
    cachedPrefix = `${date}T${clock.map((part) => pad(part, 2)).join(':')}.`
    cachedSecond = second
  }
  return `${cachedPrefix}${pad(time - second * SECOND, 6)}Z`
}

const OFFSET = '(?:([Zz])|([+\\- ])(\\d{2})(?::?(\\d{2}))?)?'
const EXTENDED = new RegExp(
  `^(\\d{4})-(\\d{2})-(\\d{2})(?:[Tt ](\\d{2}):(\\d{2})(?::(\\d{2})(?:[.,](\\d+))?)?${OFFSET})?$`,
)
const BASIC = new RegExp(
  `^(\\d{4})(\\d{2})(\\d{2})(?:[Tt ](\\d{2})(\\d{2})(?:(\\d{2})(?:[.,](\\d+))?)?${OFFSET})?$`,
)

/** The form of the times of events. */
export const FORMATTED = /^\d{4}-\d\d-\d\dT(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/

// Events that are read one after the other often share their second, so its time is cached.
const SECOND_LENGTH = 19
let parsedText = ''
let parsedSecond: Microseconds = 0

/** Reads a timestamp in the format of events. */
function parseFormatted(text: string): Microseconds | undefined {
  const second = text.slice(0, SECOND_LENGTH)
  if (second !== parsedText) {
    const time = parseAny(second)
    if (time === undefined) return undefined
    parsedText = second
    parsedSecond = time
  }
  return Math.min(parsedSecond + Number(text.slice(SECOND_LENGTH + 1, -1)), MAX_TIME)
}

/**
 * Reads ISO 8601, extended or basic: a date, minutes or seconds with any fraction (digits past the
 * microsecond are cut), 24:00 for the end of a day, second 60 for the start of the next minute, any offset (none means UTC). A space in place of
 * the offset's `+`, as in unescaped URLs, is read as `+`. Returns `undefined` for other text and for a
 * date that does not exist.
 */
export const parseTimestamp = (text: string): Microseconds | undefined =>
  FORMATTED.test(text) ? parseFormatted(text) : parseAny(text)

const FINER = /[.,]\d{6}\d*[1-9]/

/**
 * Like {@link parseTimestamp}, but a time between two microseconds, which no event has, is half a microsecond after the first of
 * them.
 */
export function parseTimeBound(text: string): number | undefined {
  const time = parseTimestamp(text)
  return time !== undefined && FINER.test(text) ? time + 0.5 : time
}

function parseAny(text: string): Microseconds | undefined {
  const match = EXTENDED.exec(text) ?? BASIC.exec(text)
  if (!match) return undefined
  const number = (group: number): number => Number(match[group] ?? 0)
  const [year, month, day] = [number(1), number(2), number(3)]
  const [hour, minute, second] = [number(4), number(5), number(6)]
  const [offsetHour, offsetMinute] = [number(10), number(11)]
  if (minute > 59 || second > 60 || offsetHour > 23 || offsetMinute > 59) return undefined
  const isEndOfDay = hour === 24 && minute + second + Number(match[7] ?? 0) === 0
  if (hour > 23 && !isEndOfDay) return undefined
  const days = daysFromCivil(year, month, day)
  const civil = civilFromDays(days)
  if (month < 1 || civil.month !== month || civil.day !== day) return undefined
  const fraction = Number((match[7] ?? '').slice(0, 6).padEnd(6, '0'))
  const offset = (offsetHour * 60 + offsetMinute) * (match[9] === '-' ? -60 : 60)
  const time = days * DAY + (hour * 3600 + minute * 60 + second - offset) * SECOND + fraction
  return Math.min(Math.max(time, MIN_TIME), MAX_TIME)
}

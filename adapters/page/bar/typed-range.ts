import { fromLocal, localDay } from '../data/calendar-range.js'
import { type Range, relativeMilliseconds } from '../data/query.js'
import { toWallClock } from '../data/zoned-time.js'
import type { TimeWords } from './time-words.js'

/*
 * Reads a time range as people type it: `yesterday 14:00-15:00`, `since monday`, `2026-11-20`, `last week`. The
 * result is `undefined` unless the whole text is a range.
 */

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Context in which a text is read. */
export interface TypedAt {
  readonly now: Date
  readonly zone: string
  /** The words of each understood language. */
  readonly words: readonly TimeWords[]
}

/** A typed time, as if local time were UTC: a day, minute or second. */
interface Moment {
  readonly start: number
  readonly length: number
  /** False for a time without a day. */
  readonly hasDay: boolean
  readonly hasTime: boolean
  /** The time since the epoch, if it was typed with an offset from UTC. */
  readonly time?: number
}

type Meaning = Exclude<keyof TimeWords, 'units' | 'weekdays'>

const meaning = (name: Meaning, { words }: TypedAt): readonly string[] =>
  words.flatMap((each) => each[name])

const isWord = (name: Meaning, text: string, at: TypedAt): boolean =>
  meaning(name, at).includes(text)

export const isSinceWord = (text: string, at: TypedAt): boolean => isWord('since', text, at)

const NUMERIC_DAYS: readonly RegExp[] = [
  /^(?<year>\d{4})-(?<month>\d{1,2})-(?<day>\d{1,2})$/,
  /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})?$/,
]

const todayOf = ({ now, zone }: TypedAt): number => Date.parse(localDay(now, zone))

/** A date by its numbers; without a year, the latest such day up to today. */
function numericDay(text: string, at: TypedAt): number | undefined {
  const numbers = NUMERIC_DAYS.map((format) => format.exec(text)?.groups).find(Boolean)
  if (!numbers) return undefined
  const today = todayOf(at)
  const [month, day] = [Number(numbers['month']) - 1, Number(numbers['day'])]
  const dateIn = (year: number): number | undefined => {
    const date = new Date(Date.UTC(year, month, day))
    const isReal = date.getUTCMonth() === month && date.getUTCDate() === day
    return isReal ? date.getTime() : undefined
  }
  if (numbers['year'] !== undefined) return dateIn(Number(numbers['year']))
  const thisYear = new Date(today).getUTCFullYear()
  const date = dateIn(thisYear)
  return date === undefined || date > today ? dateIn(thisYear - 1) : date
}

/** The latest day with this name, today included. */
function weekday(text: string, at: TypedAt): number | undefined {
  const named = at.words
    .map(({ weekdays }) => weekdays.findIndex((names) => names.includes(text)))
    .find((index) => index !== -1)
  if (named === undefined) return undefined
  const today = todayOf(at)
  const back = (((new Date(today).getUTCDay() + 6) % 7) - named + 7) % 7
  return today - back * DAY_MS
}

function dayOf(text: string, at: TypedAt): number | undefined {
  if (isWord('today', text, at)) return todayOf(at)
  if (isWord('yesterday', text, at)) return todayOf(at) - DAY_MS
  return numericDay(text, at) ?? weekday(text, at)
}

interface ClockTime {
  /** Milliseconds since midnight. */
  readonly start: number
  readonly length: number
}

function timeOf(text: string, at: TypedAt): ClockTime | undefined {
  const [, hours, minutes, seconds, suffix] =
    /^(\d{1,2})(?::(\d{2})(?::(\d{2}))?)? ?([^\d:\s]+)?$/.exec(text) ?? []
  if (hours === undefined || (minutes === undefined && suffix === undefined)) return undefined
  const isHalf = suffix === 'am' || suffix === 'pm'
  if (suffix !== undefined && !isHalf && !isWord('oClock', suffix, at)) return undefined
  if (isHalf && (Number(hours) > 12 || Number(hours) === 0)) return undefined
  const hour = isHalf ? (Number(hours) % 12) + (suffix === 'pm' ? 12 : 0) : Number(hours)
  if (hour > 24 || Number(minutes ?? 0) > 59 || Number(seconds ?? 0) > 59) return undefined
  const start = hour * HOUR_MS + Number(minutes ?? 0) * MINUTE_MS + Number(seconds ?? 0) * 1000
  if (start > DAY_MS) return undefined
  if (seconds !== undefined) return { start, length: 1000 }
  return { start, length: minutes === undefined ? HOUR_MS : MINUTE_MS }
}

/** A time with its offset, such as a copied `created_at`. */
function instantOf(text: string, { zone }: TypedAt): Moment | undefined {
  if (!/^\d{4}-\d\d-\d\dt\d\d:\d\d.*(?:z|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const time = Date.parse(text.toUpperCase())
  if (Number.isNaN(time)) return undefined
  const start = Date.parse(`${toWallClock(new Date(time), zone)}Z`)
  return { start, length: 1000, hasDay: true, hasTime: true, time: Math.floor(time / 1000) * 1000 }
}

/** A time with an offset, in the format of the page for ambiguous local times: `2026-11-01 01:30 UTC−5`. */
function withOffset(text: string, at: TypedAt, day?: number): Moment | undefined {
  const [, local, sign, hours = '0', minutes = '0'] =
    /^(.+) utc(?:([+−-])(\d{1,2})(?::(\d{2}))?)?$/.exec(text) ?? []
  const typed = local === undefined ? undefined : momentOf(local, at, day)
  if (!typed?.hasTime || typed.time !== undefined) return undefined
  const offset = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS
  const time = typed.start + (sign === '+' ? -offset : offset)
  return { ...typed, start: Date.parse(`${toWallClock(new Date(time), at.zone)}Z`), time }
}

/** A day, a time, or both. A time without a day is on `day`, by default today. */
function momentOf(text: string, at: TypedAt, day?: number): Moment | undefined {
  const instant = instantOf(text, at) ?? withOffset(text, at, day)
  if (instant) return instant
  const only = dayOf(text, at)
  if (only !== undefined) return { start: only, length: DAY_MS, hasDay: true, hasTime: false }
  const time = timeOf(text, at)
  if (time)
    return {
      start: (day ?? todayOf(at)) + time.start,
      length: time.length,
      hasDay: false,
      hasTime: true,
    }
  // The date is the first word, also in `2026-11-20t14:05`.
  const [, date, clock] = /^(\S+?)(?: |(?<=\d)t)(.+)$/.exec(text) ?? []
  const [typedDay, typedTime] = [dayOf(date ?? '', at), timeOf(clock ?? '', at)]
  if (typedDay === undefined || !typedTime) return undefined
  return {
    start: typedDay + typedTime.start,
    length: typedTime.length,
    hasDay: true,
    hasTime: true,
  }
}

/** The time of a moment, or `more` milliseconds later on the clock. */
const timeAt = ({ start, time }: Moment, { zone }: TypedAt, more = 0): string =>
  time === undefined
    ? fromLocal(start + more, zone)
    : `${new Date(time + more).toISOString().slice(0, 19)}Z`

/** `undefined` for an empty range, such as an hour that clocks skip. */
const rangeBetween = (from: string, to: string): Range | undefined =>
  from < to ? { from, to } : undefined

const shifted = (moment: Moment, by: number): Moment => ({
  ...moment,
  start: moment.start + by,
  ...(moment.time !== undefined && { time: moment.time + by }),
})

/** A time without a day that is still in the future today means yesterday, because a log has no future. */
const inPast = (moment: Moment, at: TypedAt): Moment =>
  moment.hasDay || new Date(timeAt(moment, at)) <= at.now ? moment : shifted(moment, -DAY_MS)

/** The end of a range that ends with a typed moment. A range ends after a day, but at a time. */
const endOf = (moment: Moment, at: TypedAt): string =>
  timeAt(moment, at, moment.hasTime ? 0 : moment.length)

function twoMoments(first: string, second: string, at: TypedAt): Range | undefined {
  const typed = momentOf(first, at)
  const from = typed && inPast(typed, at)
  if (!from) return undefined
  const day = Math.floor(from.start / DAY_MS) * DAY_MS
  const to = momentOf(second, at, day)
  if (!to) return undefined
  const begin = timeAt(from, at)
  const isTimed = from.time !== undefined || to.time !== undefined
  // Where clocks are set back, a later time can look earlier.
  const isNextDay = !to.hasDay && (isTimed ? endOf(to, at) <= begin : to.start <= from.start)
  return rangeBetween(begin, endOf(isNextDay ? shifted(to, DAY_MS) : to, at))
}

/** `14:00-15:00`, `monday to wednesday`, `between 14:00 and 15:00`. */
function betweenRange(text: string, at: TypedAt): Range | undefined {
  const [first, ...rest] = text.split(' ')
  const body = isWord('between', first!, at) ? rest.join(' ') : text
  const words = meaning('to', at).join('|')
  // A dash in a date does not separate two times, so each separator is tried.
  const separators = body.matchAll(new RegExp(` ?(?:-|–|\\.\\.) ?| (?:${words}) `, 'g'))
  for (const { 0: found, index } of separators) {
    const range = twoMoments(body.slice(0, index), body.slice(index + found.length), at)
    if (range) return range
  }
  return undefined
}

/** `since monday`, `before 14:00`, `until yesterday`. */
function openRange(text: string, at: TypedAt): Range | undefined {
  const [word, ...rest] = text.split(' ')
  const typed = momentOf(rest.join(' '), at)
  const moment = typed && inPast(typed, at)
  if (!moment) return undefined
  if (isWord('since', word!, at)) return { from: timeAt(moment, at) }
  if (isWord('before', word!, at)) return { to: timeAt(moment, at) }
  return isWord('until', word!, at) ? { to: endOf(moment, at) } : undefined
}

/** `last week`, `this month`. */
function calendarName(text: string, at: TypedAt): Range | undefined {
  const [word, unit, ...more] = text.split(' ')
  const name = isWord('this', word!, at) ? 'this' : isWord('last', word!, at) ? 'last' : undefined
  if (name === undefined || unit === undefined || more.length > 0) return undefined
  const units = { w: 'week', month: 'month' } as const
  const named = Object.entries(units).find(([key]) =>
    at.words.some(({ units }) => units[key as 'w' | 'month'].includes(unit)),
  )
  return named && { last: `${name}-${named[1]}` }
}

/** `24h`, `last 7 days`, `last hour`. */
function relativeRange(text: string, at: TypedAt): Range | undefined {
  if (relativeMilliseconds(text) !== undefined) return { last: text }
  const [, word, count = '1', unit] = /^(\S+) (?:(\d+) ?)?(\S+)$/.exec(text) ?? []
  if (word === undefined || !isWord('last', word, at)) return undefined
  const letter = (['m', 'h', 'd', 'w'] as const).find(
    (key) => key === unit || at.words.some(({ units }) => units[key].includes(unit!)),
  )
  const last = `${Number(count)}${letter}`
  return relativeMilliseconds(last) === undefined ? undefined : { last }
}

/** A day, or a time of a day: the minute or the hour. */
function momentRange(text: string, at: TypedAt): Range | undefined {
  if (isWord('today', text, at)) return { last: 'today' }
  if (isWord('yesterday', text, at)) return { last: 'yesterday' }
  const typed = momentOf(text, at)
  const moment = typed && inPast(typed, at)
  return moment && rangeBetween(timeAt(moment, at), timeAt(moment, at, moment.length))
}

const FORMS = [calendarName, relativeRange, momentRange, betweenRange, openRange] as const

/** The time range of a text; `undefined` for any other text. */
export function readTypedRange(text: string, at: TypedAt): Range | undefined {
  const words = text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
  if (words === '') return undefined
  for (const form of FORMS) {
    const range = form(words, at)
    if (range) return range
  }
  return undefined
}

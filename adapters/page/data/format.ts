import { computed } from '@preact/signals'
import { zone } from './address.js'
import { language } from './language.js'

/*
 * Numbers and times in the page's language. Creating an `Intl` formatter is slow, so each is created
 * once per time zone.
 */

/** The user's region of the page's language, such as `de-AT`, if the browser names one. */
const locale =
  navigator.languages
    .map((tag) => tag.replace(/@.*$/, ''))
    .find((tag) => tag.split('-', 1)[0] === language) ?? language

const numberFormat = new Intl.NumberFormat(locale)

export const formatNumber = (count: number): string => numberFormat.format(count)

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** `18.2 kB`. */
export function formatBytes(bytes: number): string {
  const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3))
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: UNITS[step]!,
    unitDisplay: 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  }).format(bytes / 1000 ** step)
}

/** `38 ms`, `2.1 sec`. */
export function formatMilliseconds(time: number): string {
  const isShort = time < 1000
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit: isShort ? 'millisecond' : 'second',
    unitDisplay: 'short',
    maximumFractionDigits: isShort ? 0 : 1,
  }).format(isShort ? Math.max(1, time) : time / 1000)
}

const formats = computed(() => {
  const timeZone = zone.value
  const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(locale, { timeZone, ...options })
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  return {
    time: format({ ...clock, second: '2-digit' }),
    minute: format(clock),
    day: format({ weekday: 'long', day: 'numeric', month: 'long' }),
    dayWithYear: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    dayKey: new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' }),
    short: format({ weekday: 'short', day: 'numeric', month: 'short', ...clock }),
    weekdayMinute: format({ weekday: 'short', ...clock }),
    dayMonth: format({ day: 'numeric', month: 'short' }),
    month: format({ month: 'short', year: 'numeric' }),
    full: format({
      weekday: 'short',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      ...clock,
      second: '2-digit',
    }),
    offset: format({ timeZoneName: 'shortOffset' }),
  }
})

const milliseconds = (time: string): string => time.slice(20, 23).padEnd(3, '0')

/** `14:05:52` and `.418` of a `created_at`. */
export function formatClock(time: string): { time: string; ms: string } {
  return { time: formats.value.time.format(new Date(time)), ms: `.${milliseconds(time)}` }
}

/** `14:05`. */
export const formatMinute = (time: Date): string => formats.value.minute.format(time)

/** `Fri 02:15`. */
export const formatWeekdayMinute = (time: Date): string => formats.value.weekdayMinute.format(time)

/** `19 Nov`. */
export const formatDayMonth = (time: Date): string => formats.value.dayMonth.format(time)

/** `Nov 2026`. */
export const formatMonth = (time: Date): string => formats.value.month.format(time)

/** `Thu 19 Nov 14:06`. */
export const formatShort = (time: Date): string => formats.value.short.format(time)

/** `2026-11-20` in the current zone; equal for all times of a day. */
export const dayKey = (time: string | Date): string => formats.value.dayKey.format(new Date(time))

/** `Friday 20 November`, with the year unless it is the current one. */
export function formatDay(time: string): string {
  const isThisYear = dayKey(time).slice(0, 4) === dayKey(new Date()).slice(0, 4)
  const { day, dayWithYear } = formats.value
  return (isThisYear ? day : dayWithYear).format(new Date(time))
}

/** `Fri 20 November 2026, 13:58:21.307`. */
export function formatFull(time: string): string {
  return `${formats.value.full.format(new Date(time))}.${milliseconds(time)}`
}

/** `UTC+1`, or `UTC`. */
export const formatOffset = (at = new Date()): string => {
  const name = formats.value.offset.formatToParts(at).find(({ type }) => type === 'timeZoneName')
  return (name?.value ?? 'UTC').replace('GMT', 'UTC')
}

let relative: Intl.RelativeTimeFormat | undefined

const STEPS: readonly (readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [31_536_000, 'year'],
  [2_592_000, 'month'],
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

/** `8 min. ago`. */
export function formatAgo(time: string, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000
  const [size, unit] = STEPS.find(([size]) => Math.abs(seconds) >= size) ?? STEPS.at(-1)!
  // Created on first use: it takes ten milliseconds, which would delay the first rows.
  relative ??= new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'narrow' })
  return relative.format(Math.trunc(seconds / size), unit)
}

const plurals = new Intl.PluralRules(language)

/** `1 event`, `2,163 events`. */
export function formatPlural(count: number, one: string, other: string): string {
  return `${formatNumber(count)} ${plurals.select(count) === 'one' ? one : other}`
}

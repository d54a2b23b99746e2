import { computed } from '@preact/signals'
import { zone } from './address.js'
import { language } from './language.js'
import { isRepeated, offsetText, toWallClock } from './zoned-time.js'

/*
 * Numbers and times in the page's language. Creating an `Intl` formatter is slow, so each is created
 * once per time zone.
 */

/** The browser's region for the page's language, such as `de-AT`, if the browser has one. */
export const locale =
  navigator.languages
    .map((tag) => tag.replace(/@.*$/, ''))
    .find((tag) => tag.split('-', 1)[0] === language) ?? language

const numberFormat = new Intl.NumberFormat(locale)

export const formatNumber = (count: number): string => numberFormat.format(count)

/** A format of times in the zone of the page. */
export function formatIn(options: Intl.DateTimeFormatOptions): (time: Date) => string {
  const format = computed(
    () => new Intl.DateTimeFormat(locale, { timeZone: zone.value, ...options }),
  )
  return (time) => format.value.format(time)
}

/** ` UTC−4` for a local time that occurs twice, because clocks are set back; else empty. */
export const repeatedOffset = (time: Date): string =>
  isRepeated(time.getTime(), zone.value) ? ` ${offsetText(time, zone.value)}` : ''

export const CLOCK = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

const formatTime = formatIn({ ...CLOCK, second: '2-digit' })

/** `.418` of an RFC 3339 time. */
export const milliseconds = (time: string): string => `.${time.slice(20, 23).padEnd(3, '0')}`

/** `14:05:52`, `.418` and, if the local time occurs twice, ` UTC−4` of a `created_at`. */
export function formatClock(time: string): { time: string; ms: string; offset: string } {
  const at = new Date(time)
  return { time: formatTime(at), ms: milliseconds(time), offset: repeatedOffset(at) }
}

/** `14:05:52`. */
export const formatSecond = (time: Date): string => formatTime(time) + repeatedOffset(time)

/** `2026-11-20` in the current zone; equal for all times of a day. */
export const dayKey = (time: string | Date): string => toWallClock(time, zone.value).slice(0, 10)

const yearOf = (time: Date): string => dayKey(time).slice(0, 4)

/** A format that includes the year, except the current year. */
function withYear(options: Intl.DateTimeFormatOptions): (time: Date) => string {
  const [short, long] = [formatIn(options), formatIn({ ...options, year: 'numeric' })]
  return (time) => (yearOf(time) === yearOf(new Date()) ? short : long)(time)
}

const shortFormat = withYear({ weekday: 'short', day: 'numeric', month: 'short', ...CLOCK })

/** `Thu 19 Nov 14:06`, with the year unless it is the current one. */
export const formatShort = (time: Date): string => shortFormat(time) + repeatedOffset(time)

/** `Friday 20 November`, with the year unless it is the current one. */
export const formatDay = withYear({ weekday: 'long', day: 'numeric', month: 'long' })

/** The different offsets of some times: `UTC+1`, `UTC`. */
export const offsetsOf = (times: readonly string[]): readonly string[] => [
  ...new Set(times.map((time) => offsetText(time, zone.value))),
]

const plurals = new Intl.PluralRules(language)

/** `1 event`, `2,163 events`. */
export function formatPlural(count: number, one: string, other: string): string {
  return `${formatNumber(count)} ${plurals.select(count) === 'one' ? one : other}`
}

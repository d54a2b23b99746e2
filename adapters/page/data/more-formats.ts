import { zone } from './address.js'
import { CLOCK, formatIn, locale, milliseconds, repeatedOffset } from './format.js'
import { offsetText } from './zoned-time.js'

/* Formats that the first rows do not need. */

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

/** The format of times, with the offset from UTC where a local time occurs twice. */
function withOffset(options: Intl.DateTimeFormatOptions): (time: Date) => string {
  const format = formatIn(options)
  return (time) => format(time) + repeatedOffset(time)
}

/** `14:05`. */
export const formatMinute = withOffset(CLOCK)

const minuteFormat = formatIn(CLOCK)

/** `14:05 UTC+1`. */
export const formatMinuteOffset = (time: Date): string =>
  `${minuteFormat(time)} ${offsetText(time, zone.value)}`

/** `Fri 02:15`. */
export const formatWeekdayMinute = withOffset({ weekday: 'short', ...CLOCK })

/** `19 Nov`. */
export const formatDayMonth = formatIn({ day: 'numeric', month: 'short' })

/** `1 Nov UTC+1`. */
export const formatDayOffset = (time: Date): string =>
  `${formatDayMonth(time)} ${offsetText(time, zone.value)}`

/** `Nov 2026`. */
export const formatMonth = formatIn({ month: 'short', year: 'numeric' })

const fullFormat = formatIn({
  weekday: 'short',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  ...CLOCK,
  second: '2-digit',
})

/** `Fri 20 November 2026, 13:58:21.307`. */
export function formatFull(time: string): string {
  const at = new Date(time)
  return fullFormat(at) + milliseconds(time) + repeatedOffset(at)
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
  // Created on first use, because this takes ten milliseconds, which would delay the first rows.
  relative ??= new Intl.RelativeTimeFormat(locale, { style: 'narrow' })
  return relative.format(Math.trunc(seconds / size), unit)
}

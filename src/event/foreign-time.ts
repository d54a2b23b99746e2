import { type Microseconds, parseTimestamp } from './timestamp.js'

/** Texts with fewer than nine digits are not read, because as seconds they would be before 1973. */
const EPOCH = /^(\d{9,20})(?:\.(\d{1,9}))?$/

/** The power of ten that converts a number to microseconds, by an upper bound of the number. 1e11 is the year 5138 in seconds, and 1973 in milliseconds. */
const UNITS: readonly (readonly [below: number, shift: number])[] = [
  [1e11, 6],
  [1e14, 3],
  [1e17, 0],
  [1e20, -3],
]

const shiftOf = (number: number): number | undefined => UNITS.find(([below]) => number < below)?.[1]

function ofDigits(text: string): Microseconds | undefined {
  const [, whole = '', fraction = ''] = EPOCH.exec(text) ?? []
  const shift = whole === '' ? undefined : shiftOf(Number(whole))
  if (shift === undefined) return undefined
  const digits = whole + fraction.padEnd(6, '0')
  return Number(digits.slice(0, whole.length + shift))
}

function ofNumber(number: number): Microseconds | undefined {
  const shift = number >= 0 ? shiftOf(number) : undefined
  if (shift === undefined) return undefined
  return shift < 0 ? Math.floor(number / 1000) : Math.round(number * 10 ** shift)
}

/**
 * The time in a record of another log: ISO 8601, or a number since 1970, also as text. The size of the number decides between seconds,
 * milliseconds, microseconds and nanoseconds. A text is cut after the microsecond. `undefined` for anything else.
 */
export function readForeignTime(value: unknown): Microseconds | undefined {
  if (typeof value === 'string') return parseTimestamp(value) ?? ofDigits(value)
  if (typeof value === 'number') return ofNumber(value)
  // A Date, or a number that no double holds.
  const { toJSON } = Object(value) as { readonly toJSON?: unknown }
  return typeof toJSON === 'function' ? readForeignTime(toJSON.call(value)) : undefined
}

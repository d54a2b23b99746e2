import type { JsonValue } from '../event/event.js'
import { scalarsIn, type Scalar } from './attributes.js'
import type { SentencePart } from './sentence.js'
import { AND_MORE, LOCALE } from './texts.js'
import { shortText } from './visible-text.js'

/** Parts of a sentence; `undefined` if the event lacks the value. */
export type Parts = readonly SentencePart[] | undefined

/** Formats the values of an attribute. */
export type Format = (values: readonly JsonValue[]) => Parts

const MAX_LENGTH = 120
const MAX_REASON_LENGTH = 300
const MAX_LISTED = 4

const NUMBER = new Intl.NumberFormat(LOCALE)
const PLURAL = new Intl.PluralRules(LOCALE)

export const plain = (text: string): Parts => (text === '' ? undefined : [{ kind: 'text', text }])

const scalarText = (value: Scalar, maxLength: number): string =>
  typeof value === 'number' ? NUMBER.format(value) : shortText(String(value), maxLength)

/** `a, b and more`; `''` without values. */
export function listText(values: readonly Scalar[], maxLength = MAX_LENGTH): string {
  const texts = values.map((value) => scalarText(value, maxLength)).filter((text) => text !== '')
  const listed = texts.slice(0, MAX_LISTED).join(', ')
  return texts.length > MAX_LISTED ? `${listed} ${AND_MORE}` : listed
}

export function reasonOf(values: readonly JsonValue[]): Parts {
  const text = listText(scalarsIn(values), MAX_REASON_LENGTH)
  return text === '' ? undefined : [{ kind: 'reason', text }]
}

const numberIn = (values: readonly JsonValue[]): number | undefined => {
  const [first] = values
  if (Array.isArray(first)) return first.length
  return typeof first === 'number' ? first : undefined
}

/** Formats numbers only; the number of an array is its length. */
const ofNumber =
  (print: (number: number) => string): Format =>
  (values) => {
    const number = numberIn(values)
    return number === undefined ? undefined : plain(print(number))
  }

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'].map(
  (unit) => new Intl.NumberFormat(LOCALE, { style: 'unit', unit, maximumFractionDigits: 1 }),
)

function bytesText(bytes: number): string {
  const steps = bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3)
  const step = Math.min(steps, BYTE_UNITS.length - 1)
  return BYTE_UNITS[step]!.format(bytes / 1000 ** step)
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

const FORMATS: Readonly<Record<string, Format>> = {
  bytes: ofNumber(bytesText),
  count: ofNumber((number) => NUMBER.format(number)),
  // Git shortens a commit's SHA to 7 digits.
  sha: ([first]) =>
    typeof first === 'string' ? plain(shortText(first.slice(0, 7), 7)) : undefined,
  time: ([first]) =>
    typeof first === 'string' && TIMESTAMP.test(first)
      ? [{ kind: 'time', text: first }]
      : undefined,
}

const asText: Format = (values) => plain(listText(scalarsIn(values)))

/** The format of `{name:format}`; `undefined` for an unknown one. */
export function formatOf(name: string, format: string | undefined): Format | undefined {
  if (format === undefined) return name === 'error' ? reasonOf : asText
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format]
  const [one, other, ...rest] = format.split('/')
  if (!one || !other || rest.length > 0) return undefined
  return ofNumber((number) => (PLURAL.select(number) === 'one' ? one : other))
}

export const FORMAT_NAMES = Object.keys(FORMATS).join(', ')

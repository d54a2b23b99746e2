import type { JsonValue } from '../event/event.js'
import { scalarsIn, type Scalar } from './attributes.js'
import type { SentencePart } from './sentence.js'
import type { SentenceLanguage } from './language.js'
import { shortText } from './visible-text.js'

/** Parts of a sentence; `undefined` if the event lacks the value. */
export type Parts = readonly SentencePart[] | undefined

/** Formats the values of an attribute in a language. */
export type Format = (values: readonly JsonValue[], language: SentenceLanguage) => Parts

const MAX_LENGTH = 120
const MAX_REASON_LENGTH = 300
const MAX_LISTED = 4

interface Formatters {
  readonly number: Intl.NumberFormat
  readonly plural: Intl.PluralRules
  readonly bytes: readonly Intl.NumberFormat[]
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

/** Formatters by language, because creating them is slow. */
const formatters = new WeakMap<SentenceLanguage, Formatters>()

function formattersOf(language: SentenceLanguage): Formatters {
  const known = formatters.get(language)
  if (known) return known
  const { tag } = language
  const created = {
    number: new Intl.NumberFormat(tag),
    plural: new Intl.PluralRules(tag),
    bytes: BYTE_UNITS.map(
      (unit) => new Intl.NumberFormat(tag, { style: 'unit', unit, maximumFractionDigits: 1 }),
    ),
  }
  formatters.set(language, created)
  return created
}

export const plain = (text: string): Parts => (text === '' ? undefined : [{ kind: 'text', text }])

/** `a, b and more`; `''` without values. */
export function listText(
  values: readonly Scalar[],
  language: SentenceLanguage,
  maxLength = MAX_LENGTH,
): string {
  const textOf = (value: Scalar): string =>
    typeof value === 'number'
      ? formattersOf(language).number.format(value)
      : shortText(String(value), maxLength)
  const texts = values.map(textOf).filter((text) => text !== '')
  const listed = texts.slice(0, MAX_LISTED).join(', ')
  return texts.length > MAX_LISTED ? `${listed} ${language.andMore}` : listed
}

export const reasonOf: Format = (values, language) => {
  const text = listText(scalarsIn(values), language, MAX_REASON_LENGTH)
  return text === '' ? undefined : [{ kind: 'reason', text }]
}

const numberIn = (values: readonly JsonValue[]): number | undefined => {
  const [first] = values
  if (Array.isArray(first)) return first.length
  return typeof first === 'number' ? first : undefined
}

/** Formats numbers only; the number of an array is its length. */
const ofNumber =
  (print: (number: number, formatters: Formatters) => string): Format =>
  (values, language) => {
    const number = numberIn(values)
    return number === undefined ? undefined : plain(print(number, formattersOf(language)))
  }

function bytesText(bytes: number, formatters: Formatters): string {
  const steps = bytes < 1000 ? 0 : Math.floor(Math.log10(bytes) / 3)
  const step = Math.min(steps, BYTE_UNITS.length - 1)
  return formatters.bytes[step]!.format(bytes / 1000 ** step)
}

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

const FORMATS: Readonly<Record<string, Format>> = {
  bytes: ofNumber(bytesText),
  count: ofNumber((count, { number }) => number.format(count)),
  // Git shortens a commit's SHA to 7 digits.
  sha: ([first]) =>
    typeof first === 'string' ? plain(shortText(first.slice(0, 7), 7)) : undefined,
  time: ([first]) =>
    typeof first === 'string' && TIMESTAMP.test(first)
      ? [{ kind: 'time', text: first }]
      : undefined,
}

const asText: Format = (values, language) => plain(listText(scalarsIn(values), language))

/** The format of `{name:format}`; `undefined` for an unknown format. */
export function formatOf(name: string, format: string | undefined): Format | undefined {
  if (format === undefined) return name === 'error' ? reasonOf : asText
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format]
  const [one, other, ...rest] = format.split('/')
  if (!one || !other || rest.length > 0) return undefined
  return ofNumber((count, { plural }) => (plural.select(count) === 'one' ? one : other))
}

export const FORMAT_NAMES = Object.keys(FORMATS).join(', ')

/**
 * A number that no double holds, as its text. An event that is recorded with it has the text, and lists the place in
 * `recording`.
 */
export class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toJSON(): string {
    return this.text
  }
}

// Every double keeps 15 digits. Other numbers have more, or an exponent.
const SHORT = /^[^eE]{1,15}$/
const LONG = /(?:^|[:,[\s])-?(?:[\d.]{16}|[\d.]+[eE])/

/** A decimal number: `0.<digits>` times ten to the `place`. Zero has the sign 0 and no digits. */
export interface Decimal {
  readonly sign: -1 | 0 | 1
  /** Without zeros at the ends. */
  readonly digits: string
  readonly place: number
}

/** Reads a number of JSON text, or of a query, which may have a plus sign and lack digits on one side of the point. */
export function decimalOf(number: string): Decimal {
  const [mantissa = '', exponent = '0'] = number.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace(/^[+-]/, '').split('.')
  const digits = (whole + fraction).replace(/^0+/, '')
  const place = Number(exponent) + digits.length - fraction.length
  const significant = withoutEnd(digits)
  if (significant === '') return { sign: 0, digits: '', place: 0 }
  return { sign: mantissa.startsWith('-') ? -1 : 1, digits: significant, place }
}

/** Without the zeros at the end. An anchored expression would take quadratic time on inner zeros. */
function withoutEnd(digits: string): string {
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** Negative if the first number is less. */
export function compareDecimals(left: Decimal, right: Decimal): number {
  if (left.sign !== right.sign) return left.sign - right.sign
  if (left.place !== right.place) return left.sign * (left.place - right.place)
  if (left.digits === right.digits) return 0
  return left.digits < right.digits ? -left.sign : left.sign
}

/** True if the shortest decimal of a double is the number of JSON text. */
function isHeldByDouble(number: string): boolean {
  if (SHORT.test(number)) return true
  const double = Number(number)
  return (
    Number.isFinite(double) && compareDecimals(decimalOf(String(double)), decimalOf(number)) === 0
  )
}

/** The number as a double, or its text if no double prints it. */
export const numberOrText = (number: string): number | string =>
  isHeldByDouble(number) ? Number(number) : number

/** `JSON.parse`, but numbers that no double holds become a {@link NumberText}. */
export const parseJson = (json: string): unknown =>
  LONG.test(json) ? parseExactly(json, isHeldByDouble, MAX_DEPTH) : JSON.parse(json)

/** `JSON.parse`, but numbers that no double holds become texts. */
export const parseWithTexts = (json: string): unknown =>
  JSON.parse(LONG.test(json) ? withTexts(json, isHeldByDouble) : json)

// Events hold nothing that is deeper.
const MAX_DEPTH = 64

const NUMBER_OR_QUOTE = /"|-?\d[\d.eE+-]*/g
const QUOTE_OR_ESCAPE = /["\\]/g

/** The index after the text whose first character is at `start`. */
function endOfText(json: string, start: number): number {
  QUOTE_OR_ESCAPE.lastIndex = start
  for (;;) {
    const found = QUOTE_OR_ESCAPE.exec(json)
    if (!found) return json.length
    if (found[0] === '"') return QUOTE_OR_ESCAPE.lastIndex
    QUOTE_OR_ESCAPE.lastIndex += 1
  }
}

/** The JSON text with quotes around each number for which `isHeld` returns false. */
function withTexts(json: string, isHeld: (number: string) => boolean): string {
  const parts: string[] = []
  let from = 0
  NUMBER_OR_QUOTE.lastIndex = 0
  for (let found; (found = NUMBER_OR_QUOTE.exec(json));) {
    const [token] = found
    if (token === '"') NUMBER_OR_QUOTE.lastIndex = endOfText(json, found.index + 1)
    else if (!isHeld(token)) {
      parts.push(json.slice(from, found.index), `"${token}"`)
      from = NUMBER_OR_QUOTE.lastIndex
    }
  }
  return from === 0 ? json : parts.join('') + json.slice(from)
}

/** The value, with each number replaced where `texts` has a text in the same place. */
function merged(value: unknown, texts: unknown, depth: number): unknown {
  if (typeof value === 'number' && typeof texts === 'string') return new NumberText(texts)
  if (value === null || typeof value !== 'object' || depth === 0) return value
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members))
    members[key] = merged(members[key], (texts as Record<string, unknown>)[key], depth - 1)
  return value
}

/**
 * Parses JSON text. Numbers for which `isHeld` returns false become a {@link NumberText}, down to `maxDepth`. Throws
 * as `JSON.parse` does.
 */
export function parseExactly(
  json: string,
  isHeld: (number: string) => boolean,
  maxDepth: number,
): unknown {
  const value: unknown = JSON.parse(json)
  const texts = withTexts(json, isHeld)
  return texts === json ? value : merged(value, JSON.parse(texts), maxDepth)
}

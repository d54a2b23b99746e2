/** A number of a JSON text that a double cannot hold. */
export interface InexactNumber {
  readonly path: readonly string[]
  /** As written. */
  readonly text: string
}

/** Present wherever a number is inexact: 16 digits, an exponent, or a negative zero. */
const SUSPECT = /\d[\d.]{15}|\d[eE]|-0/

const TOKEN = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*|[{}[\],]/gs

// The longest that `toPrecision` writes. Doubles with more digits are not written by any software in use.
const MAX_DIGITS = 100

/** The digits of a number without zeros at either end, and the power of ten of the first one. */
function digitsOf(text: string): { readonly digits: string; readonly power: number } {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const all = whole + fraction
  const leading = all.length - all.replace(/^0+/, '').length
  const digits = all.slice(leading).replace(/0+$/, '')
  return { digits, power: digits === '' ? 0 : Number(exponent) + whole.length - leading }
}

/**
 * The digits of a double that is written with `count` digits: one way, or two if it lies in the middle between them.
 * JavaScript then writes the larger one with `toPrecision`, and the one with an even digit elsewhere.
 */
function writtenWith(count: number, number: number): readonly string[] {
  const rounded = digitsOf(number.toPrecision(count)).digits
  const { digits } = digitsOf(number.toPrecision(MAX_DIGITS))
  const isTie = digits.length === count + 1 && digits.endsWith('5')
  return isTie ? [rounded, digits.slice(0, count)] : [rounded]
}

/**
 * True if the double that a JSON number becomes is the same number when it is written with as many digits,
 * as in any text that was printed from a double. A negative zero would be stored as 0, so it is not held.
 */
export function isHeldByDouble(text: string): boolean {
  const number = Number(text)
  if (!Number.isFinite(number) || Object.is(number, -0)) return false
  const { digits, power } = digitsOf(text)
  if (digits.length <= 1 && number === 0) return digits === ''
  if (digits.length > MAX_DIGITS) return false
  const held = digitsOf(number.toPrecision(digits.length))
  return held.power === power && writtenWith(digits.length, number).includes(digits)
}

/** The first number of a valid JSON text under `path` that a double cannot hold. */
export function findInexactNumber(
  json: string,
  under: readonly string[],
): InexactNumber | undefined {
  if (!SUSPECT.test(json)) return undefined
  /** The member that is being read of each open object or array; a name is `undefined` until it is read. */
  const path: (string | number | undefined)[] = []
  for (const [token] of json.matchAll(TOKEN)) {
    const member = path.at(-1)
    if (token === '{') path.push(undefined)
    else if (token === '[') path.push(0)
    else if (token === '}' || token === ']') path.pop()
    else if (token === ',')
      path[path.length - 1] = typeof member === 'number' ? member + 1 : undefined
    else if (token.startsWith('"')) {
      if (path.length > 0 && member === undefined)
        path[path.length - 1] = JSON.parse(token) as string
    } else if (under.every((key, i) => path[i] === key) && !isHeldByDouble(token))
      return { path: path.map(String), text: token }
  }
  return undefined
}

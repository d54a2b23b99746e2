const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/
const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE'])

/** A decimal number with sign, leading zeros and exponent: `007` is 7, `1e3` is 1000. */
export function readNumber(text: string): number | undefined {
  return NUMBER.test(text) ? Number(text) : undefined
}

export function readBoolean(text: string): boolean | undefined {
  if (TRUE.has(text)) return true
  return FALSE.has(text) ? false : undefined
}

/** True for a flag's value that turns its predicate into the opposite. */
export function inverts(text: string): boolean {
  return FALSE.has(text)
}

const BLANK = /^\p{White_Space}*$/u

export function isBlank(text: string): boolean {
  return BLANK.test(text)
}

// `toLowerCase` of a text differs from that of its single code points in these two only: a capital
// sigma at the end of a word, and the dotted capital I, which becomes two code points.
const CONTEXTUAL = /[\u0130\u03A3]/u

function foldCodePoint(char: string): string {
  const lower = char.toLowerCase()
  return lower.length === 1 || [...lower].length === 1 ? lower : char
}

/** Text without regard to case: every code point lowered by itself where that is one code point. */
export function fold(text: string): string {
  if (!CONTEXTUAL.test(text)) return text.toLowerCase()
  let folded = ''
  for (const char of text) folded += foldCodePoint(char)
  return folded
}

// UTF-16 puts surrogates (U+10000 and up) below U+E000..U+FFFF; code point order puts them above.
const codePointRank = (unit: number): number =>
  unit >= 0xe000 ? unit - 0x800 : unit >= 0xd800 ? unit + 0x2000 : unit

/** Order by code point, as UTF-8 bytes order in SQLite (BINARY) and Postgres (C). */
export function compareText(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const [a, b] = [left.charCodeAt(i), right.charCodeAt(i)]
    if (a !== b) return codePointRank(a) - codePointRank(b)
  }
  return left.length - right.length
}

import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { likeMatcher } from '../../../src/filter/like.js'
import {
  compareText,
  fold,
  inverts,
  isBlank,
  readBoolean,
  readNumber,
  spellings,
} from '../../../src/filter/values.js'
import { words } from '../../support/words.js'

const LAST_CODE_POINT = 0x10ffff

/** A direct implementation of the folding rule for one code point. */
function foldOneByRule(char: string): string {
  const lower = char.toLowerCase()
  return lower === char || Array.from(lower).length === 1 ? lower : char
}

const foldByRule = (text: string): string => Array.from(text, foldOneByRule).join('')

/** All code points, in groups. */
const GROUPS = Array.from({ length: (LAST_CODE_POINT + 1) / 256 }, (_, group) =>
  Array.from({ length: 256 }, (_, i) => String.fromCodePoint(group * 256 + i)),
)
/** The code points of the two planes with letters that have two cases, and all others. */
const [CASED, OTHERS] = [GROUPS.slice(0, 512), GROUPS.slice(512)]

describe('fold', () => {
  it('lowers each code point that has one code point as lower case', () => {
    const wrong: string[] = []
    const check = (text: string, expected: string): void => {
      if (fold(text) !== expected) wrong.push(text)
    }
    for (const group of CASED) {
      const lower = group.map(foldOneByRule)
      for (const [i, char] of group.entries()) if (fold(char) !== lower[i]) wrong.push(char)
      // Between letters, and beside a capital sigma, which needs the slow path.
      check(group.join('a'), lower.join('a'))
      check(group.join('Σ'), lower.join('σ'))
    }
    expect(wrong).toEqual([])
  })

  it('does not change the code points of other planes', () => {
    const wrong = OTHERS.map((group) => group.join('')).filter((text) => fold(text) !== text)
    expect(wrong).toEqual([])
  })

  it.each([
    ['ABC xyz 123', 'abc xyz 123'],
    ['ÄÖÜ ẞ ß', 'äöü ß ß'],
    ['ΣΊΣΥΦΟΣ', 'σίσυφοσ'],
    ['Σίσυφος', 'σίσυφος'],
    ['ΑΣ ΑΣ', 'ασ ασ'],
    ['İSTANBUL', 'İstanbul'],
    ['Iı', 'iı'],
    ['\u212A \u212B', 'k å'],
    ['Ǆ ǅ', 'ǆ ǆ'],
    ['ΑΙ \u1FBC', 'αι \u1FB3'],
    ['𐐀', '𐐨'],
    ['😀', '😀'],
    ['', ''],
  ])('%s -> %s', (text, folded) => {
    expect(fold(text)).toBe(folded)
  })

  it('spellings of a character are all characters with the same fold', () => {
    const byFold = new Map<string, string>()
    for (const char of CASED.flat()) {
      const folded = fold(char)
      byFold.set(folded, (byFold.get(folded) ?? '') + char)
    }
    const sorted = (chars: string): string => Array.from(chars).toSorted().join('')
    const wrong: string[] = []
    for (const [folded, all] of byFold) {
      const found = spellings(folded)
      // Most characters have one spelling.
      if (found !== all && sorted(found) !== sorted(all)) wrong.push(folded)
    }
    expect(wrong).toEqual([])
  })

  it('never changes the number of code points', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(Array.from(fold(text))).toHaveLength(Array.from(text).length)
        expect(fold(text)).toBe(foldByRule(text))
        expect(fold(fold(text))).toBe(fold(text))
      }),
    )
  })
})

describe('compareText', () => {
  it('sorts code points above U+FFFF last', () => {
    const sorted = ['', ...words('A B Z a aa b é \uD7FF \uE000 \uFFFD 😀 😀a')]
    expect(sorted.toReversed().toSorted(compareText)).toEqual(sorted)
  })

  it('finds the first difference of long texts', () => {
    const units = ['a', 'b', '\uE000', '😀']
    const start = 'aé'.repeat(3000)
    for (const at of [0, 1, 63, 64, 65, 127, 128, 129, 1024, 4095, 4096, 4097, 5000])
      for (const [i, left] of units.entries())
        for (const [j, right] of units.entries()) {
          const [one, other] = [left, right].map((unit) => start.slice(0, at) + unit + start)
          expect(Math.sign(compareText(one!, other!))).toBe(Math.sign(i - j))
        }
    expect(compareText(start, `${start}a`)).toBeLessThan(0)
  })

  it('compares only few units of long texts one by one', () => {
    const text = 'a'.repeat(100_000)
    const units = vi.spyOn(String.prototype, 'charCodeAt')
    onTestFinished(() => units.mockRestore())
    expect(compareText(`${text}a`, `${text}b`)).toBeLessThan(0)
    const { length } = units.mock.calls
    expect(length).toBeLessThan(1000)
  })

  it('orders like the bytes of UTF-8', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('a', 'b', 'é', '\uD7FF', '\uE000', '\uFFFF', '😀', '\u{10FFFF}'))
        .map((chars) => chars.join('')),
    )
    fc.assert(
      fc.property(text, text, (left, right) => {
        const expected = Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(Math.sign(compareText(left, right))).toBe(expected)
      }),
      { numRuns: 2000 },
    )
  })
})

describe('readNumber', () => {
  it.each([
    ['0', 0],
    ['7', 7],
    ['007', 7],
    ['-7', -7],
    ['+7', 7],
    ['1.50', 1.5],
    ['.5', 0.5],
    ['5.', 5],
    ['-.5e1', -5],
    ['1e3', 1000],
    ['1E+3', 1000],
    ['1e-3', 0.001],
    ['9007199254740993', 9_007_199_254_740_992],
    ['0.1', 0.1],
    ['1e400', Infinity],
    ['1e-400', 0],
    [' 7', 7],
    ['\t7.5\n', 7.5],
  ])('%j is %d', (text, number) => {
    expect(readNumber(text)).toBe(number)
  })

  const others = words(`
    + - . e5 1e 1e+ 1e1.5 --1 1,5 1_000 0x10 0b1 1n NaN Infinity -Infinity ٣ ７ 1.2.3 seven
  `)
  it.each([...others, '', ' ', '\u00A07', '+ 7', '1 000'])('%j is not a number', (text) => {
    expect(readNumber(text)).toBeUndefined()
  })
})

describe('readBoolean', () => {
  it.each(['1', 't', 'T', 'true', 'TRUE'])('%s is true', (text) => {
    expect(readBoolean(text)).toBe(true)
    expect(inverts(text)).toBe(false)
  })

  it.each(['0', 'f', 'F', 'false', 'FALSE'])('%s is false and inverts a flag', (text) => {
    expect(readBoolean(text)).toBe(false)
    expect(inverts(text)).toBe(true)
  })

  it.each(['', ' ', 'True', 'False', 'yes', 'no', 'y', 'n', 'on', 'off', '01', '00', ' 1', '-1'])(
    '%j is not a boolean',
    (text) => {
      expect(readBoolean(text)).toBeUndefined()
      expect(inverts(text)).toBe(false)
    },
  )
})

describe('isBlank', () => {
  // PropList.txt of Unicode: White_Space.
  const whiteSpace = [
    ...[0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x20, 0x85, 0xa0, 0x1680],
    ...[0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009, 0x200a],
    ...[0x2028, 0x2029, 0x202f, 0x205f, 0x3000],
  ]

  it('is true for exactly the 25 white space characters', () => {
    const found: number[] = []
    for (let code = 0; code <= LAST_CODE_POINT; code++)
      if (isBlank(String.fromCodePoint(code))) found.push(code)
    expect(found).toEqual(whiteSpace)
  })

  it('is true for an empty text, and for any number of empty texts', () => {
    expect(isBlank('')).toBe(true)
    expect(isBlank(String.fromCodePoint(...whiteSpace))).toBe(true)
    expect(isBlank(`${' '.repeat(50_000)}x`)).toBe(false)
    expect(isBlank('\uFEFF')).toBe(false)
    expect(isBlank('\u200B')).toBe(false)
  })
})

/** LIKE by its definition: matches the rest of the pattern against the rest of the text. */
function likeByDefinition(pattern: readonly string[], text: readonly string[]): boolean {
  const [head, ...rest] = pattern
  if (head === undefined) return text.length === 0
  if (head === '%') {
    for (let skip = 0; skip <= text.length; skip++)
      if (likeByDefinition(rest, text.slice(skip))) return true
    return false
  }
  const [char, ...others] = text
  if (char === undefined) return false
  if (head === '_') return likeByDefinition(rest, others)
  const escaped = head === '\\' && rest.length > 0
  const wanted = escaped ? rest[0]! : head
  const left = escaped ? rest.slice(1) : rest
  return foldByRule(wanted) === foldByRule(char) && likeByDefinition(left, others)
}

describe('likeMatcher', () => {
  it.each([
    ['abc', 'abc', true],
    ['ABC', 'abc', true],
    ['abc', 'abcd', false],
    ['', '', true],
    ['', 'a', false],
    ['%', '', true],
    ['%', 'any\nthing', true],
    ['%%', '', true],
    ['_', '', false],
    ['_', '😀', true],
    ['__', '😀', false],
    ['a%', 'a', true],
    ['a%a', 'a', false],
    ['a%a', 'aa', true],
    ['%b%', 'abc', true],
    ['%b_', 'abc', true],
    ['_%_', 'a', false],
    ['%_%b', 'b', false],
    ['%ab%ab', 'abab', true],
    ['%ab%ab', 'ab', false],
    ['%aab', 'aaab', true],
    ['%a_b%', 'xaaab', true],
    ['100\\%', '100%', true],
    ['100\\%', '1000', false],
    ['a\\_b', 'a_b', true],
    ['a\\_b', 'axb', false],
    ['\\\\', '\\', true],
    ['\\a', 'a', true],
    ['a\\', 'a\\', true],
    ['%\\', 'x\\', true],
    ['ΟΣ', 'οσ', true],
    ['ΟΣ', 'ος', false],
    ['\u212A%', 'kelvin', true],
    ['.*', 'x', false],
    ['[a-z]', 'b', false],
  ])('%j against %j: %s', (pattern, text, matches) => {
    expect(likeMatcher(pattern)(text)).toBe(matches)
  })

  // Longer pieces are not matched by regular expressions.
  const long = 'x'.repeat(40)

  it.each([
    [`${long}%bcd%de`, `${long}abcde`, false],
    [`${long}%bcd%de`, `${long}abcdde`, true],
    [`${long}%xa`, `${long}a`, false],
    [`${long}%xa`, `${long}xa`, true],
    [`%${long}%${long}`, `${long}${long.slice(1)}`, false],
    [`%${long}%${long}`, long + long, true],
    [`${long}%`, long.slice(1), false],
    [long, `${long}x`, false],
  ])('%s against %s: %s', (pattern, text, matches) => {
    expect(likeMatcher(pattern)(text)).toBe(matches)
  })

  const chars = (letters: readonly string[], maxLength: number): fc.Arbitrary<string[]> =>
    fc.array(fc.constantFrom(...letters), { maxLength, size: 'max' })

  it('matches its definition', () => {
    const pattern = chars(['a', 'b', 'A', '%', '%', '_', '\\', '😀'], 9)
    const text = chars(['a', 'b', 'B', '%', '_', '\\', '😀'], 9)
    let matched = 0
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        const expected = likeByDefinition(pattern, text)
        if (expected) matched++
        expect(likeMatcher(pattern.join(''))(text.join(''))).toBe(expected)
      }),
      { numRuns: 2500 },
    )
    expect(matched).toBeGreaterThan(125)
  })

  it('matches its definition for texts longer than a machine word', () => {
    const stretch = fc.tuple(chars(['a', 'b', '_'], 70), chars(['a', '_'], 3))
    let matched = 0
    fc.assert(
      fc.property(stretch, chars(['a', 'b'], 3), fc.boolean(), ([long, short], edge, same) => {
        const pattern = ['%', ...long, '%', ...short, '%']
        const body = long.map((char) => (char === '_' ? 'b' : char))
        if (!same && body.length > 0) body[body.length >> 1] = 'x'
        const text = [...edge, ...body, ...edge, ...edge]
        const expected = likeByDefinition(pattern, text)
        if (expected) matched++
        expect(likeMatcher(pattern.join(''))(text.join(''))).toBe(expected)
      }),
      { numRuns: 500 },
    )
    expect(matched).toBeGreaterThan(50)
  })

  it('matches many wildcards on a long text in time', () => {
    // Backtracking would not end.
    const text = 'a'.repeat(20_000)
    expect(likeMatcher(`${'%a'.repeat(2000)}%b`)(text)).toBe(false)
    expect(likeMatcher(`${'%_a'.repeat(2000)}%`)(text)).toBe(true)
    expect(likeMatcher(`%${'a_'.repeat(2000)}b%`)(text)).toBe(false)
  })
})

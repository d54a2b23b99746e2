import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { likeMatcher } from '../../../src/filter/like.js'
import { containing, endingWith, startingWith } from '../../../src/filter/search.js'
import { fold, spellings } from '../../../src/filter/values.js'

/* A search without a folded copy must find the same as a search in the folded copy. */

const ODD = [
  ...['a', 'A', 'k', 'K', '\u212A', 'σ', 'ς', 'Σ'],
  ...['İ', 'ı', 'i', 'I', 'ß', 'ẞ', 's', 'ſ', 'ǅ', 'ǆ'],
  ...['𐐀', '𐐨', '😀', 'é', 'É', 'e\u0301', '\u0301', 'Å', '\u212B', 'θ', 'ϴ', 'ω', '\u2126'],
  ...['.', '*', '+', '?', '^', '$', '(', ')', '[', ']', '{', '}', '|', '\\', '/', '-', '%', '_'],
  ...['\n', ' ', '\uFFFD', '\uFFFF', '\uD83D', '\uDE00', '\uD801', '\uDC00'],
]
const odd = fc.constantFrom(...ODD)
const element = fc.oneof(
  { weight: 4, arbitrary: fc.string({ unit: odd, minLength: 1, maxLength: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: odd, minLength: 30, maxLength: 70, size: 'max' }) },
)
/** A text that sometimes contains the element, in another case. */
const around = (element: string): fc.Arbitrary<string> => {
  const text = fc.string({ unit: odd, maxLength: 6 }).filter((text) => text.isWellFormed())
  const respelled = fc.tuple(
    ...Array.from(element, (char) =>
      fc.constantFrom(...Array.from(spellings(char)).filter((other) => other.isWellFormed()), '.'),
    ),
  )
  return fc.oneof(
    text,
    fc.tuple(text, respelled, text).map(([a, b, c]) => a + b.join('') + c),
    fc.tuple(respelled, text).map(([a, b]) => a.join('') + b),
    fc.tuple(text, respelled).map(([a, b]) => a + b.join('')),
  )
}

const pairs = element.chain((element) => fc.tuple(fc.constant(element), around(element)))

describe('a search', () => {
  it('finds the same as a search in folded texts', () => {
    const found = { in: 0, first: 0, last: 0, whole: 0 }
    fc.assert(
      fc.property(pairs, ([element, text]) => {
        const [inner, outer] = [fold(element), fold(text)]
        expect(containing(element)(text)).toBe(outer.includes(inner))
        expect(startingWith(element)(text)).toBe(outer.startsWith(inner))
        expect(endingWith(element)(text)).toBe(outer.endsWith(inner))
        const escaped = element.replaceAll(/[\\%_]/g, String.raw`\$&`)
        expect(likeMatcher(`%${escaped}%`)(text)).toBe(outer.includes(inner))
        expect(likeMatcher(escaped)(text)).toBe(outer === inner)
        if (outer.includes(inner)) found.in++
        if (outer.startsWith(inner)) found.first++
        if (outer.endsWith(inner)) found.last++
        if (outer === inner) found.whole++
      }),
      { numRuns: 2500 },
    )
    for (const count of Object.values(found)) expect(count).toBeGreaterThan(50)
  })

  it('finds each character in all of its cases and no other character', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const char = String.fromCodePoint(code)
      const all = Array.from(spellings(char))
      if (!all.includes(char) || all.some((other) => fold(other) !== fold(char)))
        expect.fail(`U+${code.toString(16)}: ${all.join(' ')}`)
    }
  })
})

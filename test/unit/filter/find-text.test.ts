import fc from 'fast-check'
import { expect, it } from 'vitest'
import { textFinder } from '../../../src/filter/find-text.js'

const SIZE = 1 << 20

it('finds the same as indexOf', () => {
  // Repetitive texts with many matches and even more partial matches of the search text.
  const block = fc.constantFrom('a', 'b', 'aaaaaaaa', 'ab'.repeat(20), 'a'.repeat(40), '\u{1F600}')
  const text = fc.array(block, { maxLength: 30 }).map((blocks) => blocks.join(''))
  fc.assert(
    fc.property(text, text, fc.nat(60), (whole, part, from) => {
      const expected = whole.indexOf(part, from)
      expect(textFinder(part)(whole, Math.min(from, whole.length))).toBe(
        Math.min(from, whole.length) === from ? expected : whole.indexOf(part, whole.length),
      )
    }),
    { numRuns: 2000 },
  )
})

it('finds a part of a text after any number of false starts', () => {
  const part = `${'a'.repeat(50)}b`
  for (const starts of [0, 1, 7, 8, 9, 40]) {
    const before = `${'a'.repeat(40)}c`.repeat(starts)
    expect(textFinder(part)(`${before}${part}x`, 0)).toBe(before.length)
    expect(textFinder(part)(`${before}x`, 0)).toBe(-1)
  }
})

// `indexOf` takes minutes for these.
it('takes linear time on repetitive texts', () => {
  const run = 'a'.repeat(30_000)
  for (const part of [`${run}b${run}`, `b${run}`, `${run}b`])
    expect(textFinder(part)('a'.repeat(SIZE), 0)).toBe(-1)
  const almost = `${run}c`.repeat(SIZE / run.length)
  for (let i = 0; i < 10; i++) expect(textFinder(`${run}a`)(almost, i)).toBe(-1)
})

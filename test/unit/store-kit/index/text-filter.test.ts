import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Scalar } from '../../../../src/filter/attributes.js'
import { fold } from '../../../../src/filter/values.js'
import { type TextFilter, textFilter } from '../../../../src/store-kit/index/text-filter.js'

function candidates(filter: TextFilter, part: string): readonly string[] | undefined {
  const work = filter(part)
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1)

const WORDS = ['agent', 'Über', 'K\u212Ak', 'c:\\temp', 'tab\t', '"x"', '😀', 'ΣΊΣ', 'line']
const textOf = fc
  .array(fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'binary' })), { maxLength: 6 })
  .map((words) => words.join(' '))
const texts = fc.array(textOf, { minLength: 100, maxLength: 300, size: 'max' })

it('keeps each text that contains the part, in any case, while texts are added', () => {
  fc.assert(
    fc.property(texts, fc.array(textOf, { minLength: 5, maxLength: 5 }), (some, others) => {
      const values = new Map<Scalar, number>([[7, 0]])
      const filter = textFilter(values)
      for (const [i, text] of some.entries()) {
        values.set(text, i)
        if (i % 50 > 0) continue
        const characters = [...text]
        const parts = [
          characters.slice(2, 7).join(''),
          text.toUpperCase(),
          characters.slice(-4).join(''),
        ]
        for (const part of [...others, ...parts]) {
          const found = candidates(filter, inJson(part))
          const all = [...values.keys()].filter((value) => typeof value === 'string')
          const having = all.filter((one) => fold(one).includes(fold(part)))
          expect(having.filter((one) => !(found ?? all).includes(one))).toEqual([])
        }
      }
    }),
    // Shrinking a long counterexample takes too long.
    { numRuns: 20, endOnFailure: true },
  )
})

const numbered = (n: number): string => `the message ${n} of agent ${Math.imul(n, 40_503) >>> 16}`

it('excludes most other texts', () => {
  const values = new Map(Array.from({ length: 3200 }, (_, n) => [numbered(n), n]))
  const filter = textFilter(values)
  const parts = ['zephyr', 'backlog full', 'unknown host', 'quota', 'timed out', 'Message 3000 of']
  const left = parts.map((part) => candidates(filter, part)!.length)
  expect(left.reduce((sum, count) => sum + count, 0)).toBeLessThan((parts.length * 3200) / 20)
  expect(candidates(filter, 'Message 3000 of')).toContain(numbered(3000))
})

it('finds the end of a text by its closing quote', () => {
  const values = new Map(Array.from({ length: 320 }, (_, n) => [numbered(n), n]))
  values.set('comes to its end', -1)
  values.set('its end is not here, nor there', -2)
  for (let n = 320; n < 352; n++) values.set(numbered(n), n)
  const found = candidates(textFilter(values), 'its end"')!
  expect(found).toContain('comes to its end')
  expect(found).not.toContain('its end is not here, nor there')
})

it('keeps cut texts for any part', () => {
  const cut = 'x'.repeat(512)
  const values = new Map(Array.from({ length: 64 }, (_, n) => [n === 5 ? cut : numbered(n), n]))
  expect(candidates(textFilter(values), 'zephyr')).toContain(cut)
})

it('excludes nothing for a part that is too short', () => {
  expect(candidates(textFilter(new Map([['abc', 1]])), 'ab')).toBeUndefined()
})

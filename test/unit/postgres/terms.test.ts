import type { JsonObject } from 'daybook'
import { describe, expect, it } from 'vitest'
import { presenceTerms, termsOf, valueTerms } from '../../../adapters/postgres/schema/terms.js'

const of = (attributes: JsonObject): number[] => termsOf(attributes)

const meets = (terms: readonly number[], sought: readonly number[]): boolean =>
  sought.some((term) => terms.includes(term))

describe('the terms of an event', () => {
  it('do not change, as they are stored', () => {
    expect(of({ a: { b: ['é😀', 7, 0.1, true, null] }, c: {} })).toEqual([
      1_583_235_807, 65_578_553, 877_581_368, -1_939_638_934, -1_041_911_781, -13_738_057,
    ])
    expect(of({ t: 'x'.repeat(129) })).toEqual([1_909_271_936, 110_195_526])
  })

  it('are the same however keys split the name, and through arrays', () => {
    const spelled: JsonObject[] = [
      { a_b_c: 1 },
      { a: { b_c: 1 } },
      { a_b: { c: 1 } },
      { a: { b: { c: 1 } } },
      { a: [{ b: [[{ c: [[1]] }]] }] },
    ]
    for (const attributes of spelled) {
      expect(meets(of(attributes), valueTerms('a_b_c', [1]))).toBe(true)
      expect(meets(of(attributes), presenceTerms('a_b_c'))).toBe(true)
    }
  })

  it.each([
    ['5', { v: '5' }],
    [5, { v: 5 }],
    [-0, { v: 0 }],
    [true, { v: true }],
    [false, { v: [false] }],
    ['', { v: '' }],
  ])('distinguish %j by its type', (value, attributes) => {
    const others = ['5', 5, 0, true, false, '', 'true', '0'].filter(
      (other) => !Object.is(other, value) && other !== value,
    )
    expect(meets(of(attributes), valueTerms('v', [value]))).toBe(true)
    expect(meets(of(attributes), valueTerms('v', others))).toBe(false)
    expect(meets(of(attributes), valueTerms('w', [value]))).toBe(false)
  })

  it('contain what is present', () => {
    const present: JsonObject[] = [
      { v: '' },
      { v: 0 },
      { v: [null] },
      { v: [[]] },
      { v: { x: null } },
    ]
    const absent: JsonObject[] = [{}, { v: null }, { v: [] }, { v: {} }, { w: 1 }, { v_w: 1 }]
    expect(present.filter((attributes) => !meets(of(attributes), presenceTerms('v')))).toEqual([])
    expect(absent.filter((attributes) => meets(of(attributes), presenceTerms('v')))).toEqual([])
  })

  it('distinguish long texts by their ends and length', () => {
    const long = (end: string, length: number): string => 'x'.repeat(length) + end
    const terms = of({ v: long('a', 500) })
    expect(meets(terms, valueTerms('v', [long('a', 500)]))).toBe(true)
    expect(meets(terms, valueTerms('v', [long('b', 500)]))).toBe(false)
    expect(meets(terms, valueTerms('v', [long('a', 501)]))).toBe(false)
  })

  it('contain repeated elements once', () => {
    const terms = of({ v: ['x', 'x', { w: 1 }, { w: 1 }] })
    expect(new Set(terms).size).toBe(terms.length)
    expect(terms).toHaveLength(4)
  })

  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
  const named = (count: number): JsonObject =>
    Object.fromEntries(numbers(count).map((i) => [`k${i}`, i]))

  it('are one for each name if there are too many, which all searches for the name find', () => {
    const terms = of({ list: numbers(5000), a: [{ b: 'x' }], ...named(1001) })
    expect(terms).toHaveLength(1 + 2 + 1001)
    for (const name of ['list', 'a', 'a_b', 'k1000'])
      for (const search of [presenceTerms(name), valueTerms(name, ['none'])])
        expect(meets(terms, search)).toBe(true)
    expect(meets(terms, presenceTerms('zz'))).toBe(false)
    expect(meets(terms, valueTerms('zz', ['x']))).toBe(false)
  })

  it('are a single one that every search finds if there are too many names', () => {
    const terms = of(named(10_001))
    expect(terms).toEqual([0])
    const sought = [presenceTerms('zz'), valueTerms('zz', ['x'])]
    expect(sought.every((search) => meets(terms, search))).toBe(true)
  })

  it('include names of inherited properties only if they are own', () => {
    const attributes = JSON.parse('{"__proto__":{"x":1},"constructor":2}') as JsonObject
    expect(meets(of(attributes), valueTerms('__proto___x', [1]))).toBe(true)
    expect(meets(of(attributes), valueTerms('constructor', [2]))).toBe(true)
    expect(meets(of({}), presenceTerms('constructor'))).toBe(false)
  })
})

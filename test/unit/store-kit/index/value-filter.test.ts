import { createHash } from 'node:crypto'
import { expect, it, vi } from 'vitest'
import type { Scalar } from '../../../../src/filter/attributes.js'
import { valueFilter } from '../../../../src/store-kit/index/value-filter.js'

const text = (n: number): string => createHash('sha1').update(String(n)).digest('hex')
const texts = Array.from({ length: 5000 }, (_, n) => text(n))

const mapOf = (values: readonly Scalar[]): Map<Scalar, boolean> =>
  new Map(values.map((value) => [value, true]))

it('accepts all of its values and few other values', () => {
  const values = [...texts, ...texts.keys(), true, false, '']
  const mayHave = valueFilter(mapOf(values))
  expect(values.filter((value) => !mayHave(value))).toEqual([])
  const others = Array.from({ length: 20_000 }, (_, n) => text(n + texts.length))
  expect(others.filter((value) => mayHave(value)).length).toBeLessThan(others.length / 20)
})

it('treats 0 and -0 as the same value, as a Map does', () => {
  expect(valueFilter(mapOf([-0, ...texts]))(0)).toBe(true)
})

it('accepts an empty text as the first value', async () => {
  // Earlier tests leave a text in the module's cache.
  vi.resetModules()
  const module = await import('../../../../src/store-kit/index/value-filter.js')
  const mayHave = module.valueFilter(mapOf(['', ...texts]))
  expect(mayHave(texts[0]!)).toBe(true)
  expect(mayHave('')).toBe(true)
})

it('is exact for a few values', () => {
  const mayHave = valueFilter(mapOf(['a', 1]))
  expect(['a', 1, 'b', '1', 2].map(mayHave)).toEqual([true, true, false, false, false])
})

it('accepts values that are added later', () => {
  const values = mapOf(['first'])
  const mayHave = valueFilter(values)
  for (const text of texts) {
    expect(mayHave(`not ${text}`) && values.size < 8).toBe(false)
    values.set(text, true)
    expect(mayHave(text)).toBe(true)
  }
  expect(['first', ...texts].every(mayHave)).toBe(true)
  const others = texts.filter((text) => mayHave(`not ${text}`))
  expect(others.length).toBeLessThan(texts.length / 20)
})

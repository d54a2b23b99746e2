import { createHash } from 'node:crypto'
import { expect, it } from 'vitest'
import { valueFilter } from '../../../src/indexing/value-filter.js'

const text = (n: number): string => createHash('sha1').update(String(n)).digest('hex')
const texts = Array.from({ length: 5000 }, (_, n) => text(n))

it('has all of its values, and few others', () => {
  const values = [...texts, ...texts.keys(), true, false, '']
  const mayHave = valueFilter(values, values.length)!
  expect(values.filter((value) => !mayHave(value))).toEqual([])
  const others = Array.from({ length: 20_000 }, (_, n) => text(n + texts.length))
  expect(others.filter((value) => mayHave(value)).length).toBeLessThan(others.length / 20)
})

it('has 0 where it has -0, as a Map has', () => {
  expect(valueFilter([-0, ...texts], 5001)!(0)).toBe(true)
})

it('is not made of a few values', () => {
  expect(valueFilter(['a', 'b'], 2)).toBeUndefined()
})

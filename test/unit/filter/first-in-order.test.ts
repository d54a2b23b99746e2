import fc from 'fast-check'
import { expect, it } from 'vitest'
import { firstInOrderOf } from '../../../src/filter/order.js'

interface Item {
  readonly key: number
  readonly place: number
}

const compare = (left: Item, right: Item): number => left.key - right.key

const itemsOf = (keys: readonly number[]): Item[] => keys.map((key, place) => ({ key, place }))

it('returns the first items of a stable sort', () =>
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 5000, size: 'max' }),
      fc.nat(700),
      (keys, max) => {
        const items = itemsOf(keys)
        expect(firstInOrderOf(items, max, compare)).toEqual(items.toSorted(compare).slice(0, max))
      },
    ),
    { numRuns: 50 },
  ))

it('compares each of many items about once', () => {
  const items = itemsOf(Array.from({ length: 100_000 }, (_, i) => (i * 7919) % 100_003))
  let compared = 0
  firstInOrderOf(items, 20, (left, right) => {
    compared += 1
    return compare(left, right)
  })
  expect(compared).toBeLessThan(2 * items.length)
})

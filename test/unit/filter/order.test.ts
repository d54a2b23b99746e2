import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { firstInOrderOf, sortInSteps } from '../../../src/filter/order.js'
import type { Steps } from '../../../src/filter/steps.js'

interface Item {
  readonly key: number
  readonly place: number
}

const compare = (left: Item, right: Item): number => left.key - right.key

const itemsOf = (keys: readonly number[]): Item[] => keys.map((key, place) => ({ key, place }))

/** The result, the number of pauses, and the most comparisons without a pause. */
function run(items: readonly Item[]) {
  let compared = 0
  let most = 0
  let pauses = 0
  const steps: Steps<Item[]> = sortInSteps(items, (left, right) => {
    most = Math.max(most, ++compared)
    return compare(left, right)
  })
  for (;;) {
    const next = steps.next()
    if (next.done) return { sorted: next.value, pauses, most }
    pauses += 1
    compared = 0
  }
}

describe('sortInSteps', () => {
  it('sorts as the language does, and is stable', () =>
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 5000, size: 'max' }),
        (keys) => {
          const items = itemsOf(keys)
          expect(run(items).sorted).toEqual(items.toSorted(compare))
        },
      ),
      { numRuns: 20 },
    ))

  it('compares few items without a pause, also out of many', () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => (i * 7919) % 50_000)
    const { pauses, most } = run(itemsOf(keys))
    expect(pauses).toBeGreaterThan(3000)
    expect(most).toBeLessThan(500)
    expect(run(itemsOf(keys.slice(0, 60))).pauses).toBe(0)
  })
})

describe('firstInOrderOf', () => {
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
})

import { expect, it } from 'vitest'
import { INDEX_BOUNDS } from '../../../../src/store-kit/index/index-bounds.js'
import { createListing } from '../../../../src/store-kit/index/listing.js'

const values = (count: number): string => JSON.stringify(Array.from({ length: count }, () => 1000))

it('large events are listed up to a number of values; long texts and small events always', () => {
  const { lists, hasUnlisted, reset } = createListing({ ...INDEX_BOUNDS, listedValues: 10_000 })
  const listed = [values(4000), values(7000), values(5000), values(100), values(2000)].map(lists)
  expect(listed).toEqual([true, false, true, true, false])
  expect(lists(JSON.stringify({ text: 'x'.repeat(1_000_000) }))).toBe(true)
  expect(hasUnlisted()).toBe(true)
  reset()
  expect(hasUnlisted()).toBe(false)
  expect(lists(values(10_000))).toBe(true)
})

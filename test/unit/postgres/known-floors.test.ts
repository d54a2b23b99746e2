import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  after,
  before,
  END,
  type Place,
  START,
} from '../../../adapters/postgres/index/chunk-requests.js'
import { createKnownFloors, hexOf } from '../../../adapters/postgres/index/known-floors.js'
import { Layout } from '../../../src/store-kit/index/chunks.js'
import type { ChunkValues } from '../../../src/store-kit/index/segment-source.js'

const KEYS = ['', 'a', 'aa', 'b', 'ba', 'é', '😀']
const SHARED = Uint8Array.of(Layout.shared)
const PIECE = Uint8Array.of(Layout.list)

/** Chunks of some lists: one for some keys, several pieces for others. */
const lists = fc
  .record({
    keys: fc.uniqueArray(fc.constantFrom(...KEYS), { maxLength: KEYS.length }),
    pieces: fc.array(fc.nat(3), { minLength: KEYS.length, maxLength: KEYS.length }),
  })
  .map(({ keys, pieces }) =>
    keys
      .toSorted((a, b) => (hexOf(a) < hexOf(b) ? -1 : 1))
      .flatMap((key, i): ChunkValues[] =>
        pieces[i] === 0
          ? [[key, 0, '', SHARED]]
          : Array.from({ length: pieces[i]! }, (_, n) => [key, 10 * n, '', PIECE]),
      ),
  )

const place: fc.Arbitrary<Place> = fc.oneof(
  fc.constantFrom(START, END),
  fc.constantFrom(...KEYS).map((key) => after(hexOf(key))),
  fc.constantFrom(...KEYS).map((key) => before(hexOf(key))),
)
const reads = fc.array(
  fc.record({
    by: fc.constantFrom('down' as const, 'up' as const),
    place,
    max: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 8 },
)

const isAfter = ([key, ordinal]: ChunkValues, { first, ordinal: last }: Place): boolean =>
  hexOf(key) === first ? ordinal > last : hexOf(key) > first

it('knows a floor only if the runs that were read show it, and then the right one', () => {
  let known = 0
  fc.assert(
    fc.property(lists, reads, (chunks, reads) => {
      const floors = createKnownFloors()
      for (const { by, place, max } of reads) {
        const inOrder =
          by === 'up'
            ? chunks.filter((chunk) => isAfter(chunk, place))
            : chunks.filter((chunk) => !isAfter(chunk, place)).toReversed()
        const run = inOrder.slice(0, max)
        floors.learn(by, place, { chunks: run, isEnd: run.length < max })
        if (by === 'down' && place.ordinal > 0) expect(floors.find(place.first)).toBe(run[0])
      }
      for (const key of KEYS) {
        const found = floors.find(hexOf(key))
        if (found === 'unknown') continue
        known += 1
        expect(found).toBe(chunks.findLast((chunk) => hexOf(chunk[0]) <= hexOf(key)))
      }
    }),
    { numRuns: 500 },
  )
  expect(known).toBeGreaterThan(500)
})

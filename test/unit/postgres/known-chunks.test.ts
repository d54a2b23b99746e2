import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  before,
  after,
  createKnownChunks,
  END,
  type KnownChunks,
  type Place,
  type PlacedChunk,
  START,
} from '../../../adapters/postgres/index/known-chunks.js'

const compare = (a: Place, b: Place): number =>
  a.first === b.first ? a.ordinal - b.ordinal : a.first < b.first ? -1 : 1

const chunkAt = (place: Place): PlacedChunk => ({
  ...place,
  chunk: [place.first, place.ordinal, '', new Uint8Array()],
})

const KEYS = ['', '00', '0000', '01', '7f', 'c3a4', 'f0']

/** Chunks of some lists: one chunk for some values, several pieces for others. */
const lists = fc
  .uniqueArray(fc.constantFrom(...KEYS), { maxLength: KEYS.length })
  .chain((keys) =>
    fc.tuple(
      ...keys
        .toSorted()
        .map((first) =>
          fc
            .uniqueArray(fc.nat(9), { minLength: 1, maxLength: 4 })
            .map((ordinals) =>
              ordinals.toSorted((a, b) => a - b).map((ordinal) => chunkAt({ first, ordinal })),
            ),
        ),
    ),
  )
  .map((all) => all.flat())

type Method = 'down' | 'up' | 'pieces'

const query = fc.record({
  method: fc.constantFrom<Method>('down', 'up', 'pieces'),
  place: fc.oneof(
    fc.constantFrom(START, END),
    fc
      .tuple(fc.constantFrom(...KEYS, '5050'), fc.boolean())
      .map(([first, isAfter]) => (isAfter ? after(first) : before(first))),
  ),
  most: fc.integer({ min: 1, max: 4 }),
})
type Query = typeof query extends fc.Arbitrary<infer One> ? One : never

/** Learns the rows that the server would return. */
function fetch(
  known: KnownChunks,
  all: readonly PlacedChunk[],
  { method, place, most }: Query,
): void {
  if (method === 'pieces') {
    const { first } = place
    known.learn(
      before(first),
      all.filter((chunk) => chunk.first === first),
      after(first),
    )
  } else if (method === 'up') {
    const rows = all.filter((chunk) => compare(chunk, place) > 0).slice(0, most)
    known.learn(place, rows, rows.length < most ? END : rows.at(-1)!)
  } else {
    const rows = all.filter((chunk) => compare(chunk, place) <= 0).slice(-most)
    known.learn(rows.length < most ? START : rows[0]!, rows, place)
  }
}

const ask = (known: KnownChunks, { method, place }: Query): unknown =>
  method === 'pieces' ? known.pieces(place.first) : known[method](place)

function truth(all: readonly PlacedChunk[], { method, place }: Query): unknown {
  if (method === 'pieces')
    return all.filter(({ first }) => first === place.first).map(({ chunk }) => chunk)
  return method === 'up'
    ? all.find((chunk) => compare(chunk, place) > 0)?.chunk
    : all.findLast((chunk) => compare(chunk, place) <= 0)?.chunk
}

describe('known chunks', () => {
  it('are returned as the server would, or unknown, and are known after a fetch', () => {
    let knownAtOnce = 0
    fc.assert(
      fc.property(lists, fc.array(query, { minLength: 5, maxLength: 30 }), (all, queries) => {
        const known = createKnownChunks()
        for (const query of queries) {
          const first = ask(known, query)
          if (first === 'unknown') {
            fetch(known, all, query)
            expect(ask(known, query)).not.toBe('unknown')
          } else knownAtOnce++
          expect(ask(known, query)).toEqual(truth(all, query))
          for (const key of [...KEYS, '5050'])
            for (const place of [before(key), after(key), START, END])
              for (const method of ['down', 'up', 'pieces'] as const) {
                const other = { method, place, most: 1 }
                const found = ask(known, other)
                if (found !== 'unknown') expect(found).toEqual(truth(all, other))
              }
        }
      }),
      { numRuns: 100 },
    )
    expect(knownAtOnce).toBeGreaterThan(200)
  })

  it('are known one after the other after one fetch of many', () => {
    const all = KEYS.map((first) => chunkAt({ first, ordinal: 0 }))
    const known = createKnownChunks()
    fetch(known, all, { method: 'up', place: START, most: 4 })
    expect(KEYS.slice(0, 3).map((key) => known.up(after(key)))).toEqual(
      all.slice(1, 4).map(({ chunk }) => chunk),
    )
    expect(known.up(after(KEYS[3]!))).toBe('unknown')
    expect(known.down(after(KEYS[3]!))).toBe('unknown')
    // There is no chunk between fetched ones; there may be others after the last one.
    expect(known.down(after('0055'))).toBe(all[2]!.chunk)
  })

  it('count their memory once each', () => {
    const all = KEYS.map((first) => chunkAt({ first, ordinal: 0 }))
    const known = createKnownChunks()
    const empty = known.bytes
    fetch(known, all, { method: 'up', place: START, most: 9 })
    const full = known.bytes
    expect(full).toBeGreaterThan(empty)
    fetch(known, all, { method: 'down', place: END, most: 9 })
    expect(known.bytes).toBe(full)
  })
})

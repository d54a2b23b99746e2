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

/** The chunks of some lists: of some values one, of others several pieces. */
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

type Asked = 'down' | 'up' | 'pieces'

const question = fc.record({
  asked: fc.constantFrom<Asked>('down', 'up', 'pieces'),
  place: fc.oneof(
    fc.constantFrom(START, END),
    fc
      .tuple(fc.constantFrom(...KEYS, '5050'), fc.boolean())
      .map(([first, isBehind]) => (isBehind ? after(first) : before(first))),
  ),
  most: fc.integer({ min: 1, max: 4 }),
})
type Question = typeof question extends fc.Arbitrary<infer One> ? One : never

/** What the server gives, and what is learnt from that. */
function fetch(
  known: KnownChunks,
  all: readonly PlacedChunk[],
  { asked, place, most }: Question,
): void {
  if (asked === 'pieces') {
    const { first } = place
    known.learn(
      before(first),
      all.filter((chunk) => chunk.first === first),
      after(first),
    )
  } else if (asked === 'up') {
    const rows = all.filter((chunk) => compare(chunk, place) > 0).slice(0, most)
    known.learn(place, rows, rows.length < most ? END : rows.at(-1)!)
  } else {
    const rows = all.filter((chunk) => compare(chunk, place) <= 0).slice(-most)
    known.learn(rows.length < most ? START : rows[0]!, rows, place)
  }
}

const ask = (known: KnownChunks, { asked, place }: Question): unknown =>
  asked === 'pieces' ? known.pieces(place.first) : known[asked](place)

function truth(all: readonly PlacedChunk[], { asked, place }: Question): unknown {
  if (asked === 'pieces')
    return all.filter(({ first }) => first === place.first).map(({ chunk }) => chunk)
  return asked === 'up'
    ? all.find((chunk) => compare(chunk, place) > 0)?.chunk
    : all.findLast((chunk) => compare(chunk, place) <= 0)?.chunk
}

describe('chunks that are known', () => {
  it('are told of as they are, or not at all, and what was fetched is known', () => {
    let answered = 0
    fc.assert(
      fc.property(lists, fc.array(question, { minLength: 5, maxLength: 30 }), (all, questions) => {
        const known = createKnownChunks()
        for (const question of questions) {
          const first = ask(known, question)
          if (first === 'unknown') {
            fetch(known, all, question)
            expect(ask(known, question)).not.toBe('unknown')
          } else answered++
          expect(ask(known, question)).toEqual(truth(all, question))
          for (const key of [...KEYS, '5050'])
            for (const place of [before(key), after(key), START, END])
              for (const asked of ['down', 'up', 'pieces'] as const) {
                const other = { asked, place, most: 1 }
                const told = ask(known, other)
                if (told !== 'unknown') expect(told).toEqual(truth(all, other))
              }
        }
      }),
      { numRuns: 100 },
    )
    expect(answered).toBeGreaterThan(200)
  })

  it('lead on from one to the next after one fetch of many', () => {
    const all = KEYS.map((first) => chunkAt({ first, ordinal: 0 }))
    const known = createKnownChunks()
    fetch(known, all, { asked: 'up', place: START, most: 4 })
    expect(KEYS.slice(0, 3).map((key) => known.up(after(key)))).toEqual(
      all.slice(1, 4).map(({ chunk }) => chunk),
    )
    expect(known.up(after(KEYS[3]!))).toBe('unknown')
    expect(known.down(after(KEYS[3]!))).toBe('unknown')
    // Behind the last that was fetched anything may come, in between nothing.
    expect(known.down(after('0055'))).toBe(all[2]!.chunk)
  })

  it('take more memory the more they are, and once each', () => {
    const all = KEYS.map((first) => chunkAt({ first, ordinal: 0 }))
    const known = createKnownChunks()
    const empty = known.bytes
    fetch(known, all, { asked: 'up', place: START, most: 9 })
    const full = known.bytes
    expect(full).toBeGreaterThan(empty)
    fetch(known, all, { asked: 'down', place: END, most: 9 })
    expect(known.bytes).toBe(full)
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addRange,
  type BitSet,
  countCommon,
  emptySet,
  intersect,
  invert,
  removeOrdinals,
  sizeOfSet,
  subtract,
  unite,
} from '../../../../src/store-kit/index/bit-set.js'
import { encodeChunks } from '../../../../src/store-kit/index/chunks.js'
import {
  addToSet,
  bitPostings,
  countInSet,
  exceptPostings,
  listPostings,
  NONE,
  type FetchedPostings,
} from '../../../../src/store-kit/index/postings.js'
import { readPiece } from '../../../../src/store-kit/index/read-chunks.js'
import { chunkPostings, joinedPostings } from '../../../../src/store-kit/index/segment-postings.js'
import type { ChunkReader, ChunkValues } from '../../../../src/store-kit/index/segment-source.js'

const ordinalsIn = (set: BitSet): number[] =>
  Array.from({ length: set.length * 32 }, (_, at) => at).filter(
    (at) => (set[at >>> 5]! & (1 << (at & 31))) !== 0,
  )

function setOf(ordinals: readonly number[], size: number): BitSet {
  const set = emptySet(size)
  addToSet(listPostings(ordinals.toSorted((a, b) => a - b)), set)
  return set
}

const sets = fc.integer({ min: 1, max: 200 }).chain((size) =>
  fc.record({
    size: fc.constant(size),
    a: fc.uniqueArray(fc.nat(size - 1)),
    b: fc.uniqueArray(fc.nat(size - 1)),
    from: fc.nat(size),
    to: fc.nat(size),
  }),
)

describe('sets of ordinals', () => {
  it('have the same results as operations on lists of ordinals', () => {
    fc.assert(
      fc.property(sets, ({ size, a, b, from, to }) => {
        const all = Array.from({ length: size }, (_, at) => at)
        const isWithin = (at: number): boolean => at >= from && at < to
        const changed = (change: (set: BitSet) => void): number[] => {
          const set = setOf(a, size)
          change(set)
          return ordinalsIn(set)
        }
        const other = setOf(b, size)
        const ordinalsWhere = (has: (at: number) => boolean): number[] => all.filter(has)
        expect(changed((set) => unite(set, other))).toEqual(
          ordinalsWhere((at) => a.includes(at) || b.includes(at)),
        )
        expect(changed((set) => intersect(set, other))).toEqual(
          ordinalsWhere((at) => a.includes(at) && b.includes(at)),
        )
        const without = ordinalsWhere((at) => a.includes(at) && !b.includes(at))
        expect(changed((set) => subtract(set, other))).toEqual(without)
        expect(changed((set) => removeOrdinals(set, b))).toEqual(without)
        expect(changed((set) => invert(set, size))).toEqual(ordinalsWhere((at) => !a.includes(at)))
        expect(changed((set) => addRange(set, from, to))).toEqual(
          ordinalsWhere((at) => a.includes(at) || isWithin(at)),
        )
        const common = ordinalsWhere((at) => a.includes(at) && b.includes(at) && isWithin(at))
        expect(countCommon(setOf(a, size), other, from, to)).toBe(common.length)
        expect(sizeOfSet(other)).toBe(b.length)
      }),
      { numRuns: 300 },
    )
  })
})

/** The postings of a list in pieces. */
function postingsInPieces(ordinals: readonly number[]): FetchedPostings {
  const pieces = [...encodeChunks([{ value: 0, ordinals }])].map(
    ({ ordinal, values, postings }): ChunkValues => [0, ordinal, values, postings],
  )
  const reader: Pick<ChunkReader<object>, 'pieceAt' | 'pieceAfter'> = {
    pieceAt: (_lists, _key, at) => pieces.findLast(([, first]) => first <= at),
    pieceAfter: (_lists, _key, at) => pieces.find(([, first]) => first > at),
  }
  expect(pieces.length).toBeGreaterThan(1)
  expect(readPiece(pieces[0]![3]).size).toBe(ordinals.length)
  return chunkPostings(reader as ChunkReader<object>, {}, pieces[0]!, false).postings(0)
}

const joined = (ordinals: readonly number[]): FetchedPostings =>
  joinedPostings(
    [...encodeChunks([{ value: 0, ordinals }])].map(({ postings }) => readPiece(postings)),
  )

const SIZE = 50_000
const ALL = Array.from({ length: SIZE }, (_, at) => at)
const WANTED = ALL.filter((at) => at % 7 < 3)

it.each<
  [
    kind: string,
    ordinals: readonly number[],
    make: (ordinals: readonly number[]) => FetchedPostings,
  ]
>([
  ['a list', ALL.filter((at) => at % 5 === 0), listPostings],
  ['a bitmap', [64, 65, 99], () => bitPostings(new Uint32Array([0b11, 0b1000]), 3, 64)],
  ['a sparse list in pieces', ALL.filter((at) => at % 9 === 4), postingsInPieces],
  ['a dense list in pieces', ALL.filter((at) => at % 3 > 0), postingsInPieces],
  ['a sparse list of read pieces', ALL.filter((at) => at % 9 === 4), joined],
  ['a dense list of read pieces', ALL.filter((at) => at % 3 > 0), joined],
  [
    'all but a list',
    ALL.filter((at) => at % 4 > 0),
    () => exceptPostings(listPostings(ALL.filter((at) => at % 4 === 0)), SIZE),
  ],
])('%s is added to a set, and counted in one', (_, ordinals, make) => {
  const postings = make(ordinals)
  const set = emptySet(SIZE)
  addToSet(postings, set)
  expect(ordinalsIn(set)).toEqual(ordinals)
  const middle = ordinals[ordinals.length >> 1]!
  expect([
    postings.seek(0, 1),
    postings.seek(middle, 1),
    postings.seek(middle, -1),
    postings.seek(SIZE, -1),
    postings.seek(SIZE, 1),
  ]).toEqual([ordinals[0], middle, middle, ordinals.at(-1), NONE])
  expect(countInSet(postings, setOf(WANTED, SIZE))).toBe(ordinals.filter((at) => at % 7 < 3).length)
})

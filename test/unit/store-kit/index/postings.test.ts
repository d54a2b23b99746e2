import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allOfPostings,
  anyOfPostings,
  bitPostings,
  exceptPostings,
  listPostings,
  NONE,
  type FetchedPostings,
  postingsBuilder,
  rangePostings,
  type Step,
} from '../../../../src/store-kit/index/postings.js'

const END = 200

/** Postings and a test for the ordinals they should have. */
interface Pair {
  readonly postings: FetchedPostings
  readonly has: (ordinal: number) => boolean
}

const ordinals = fc.uniqueArray(fc.integer({ min: 0, max: END - 1 }), { maxLength: 120 })

function bits(some: readonly number[]): Uint32Array {
  const words = new Uint32Array(Math.ceil(END / 32))
  for (const ordinal of some) words[ordinal >> 5]! |= 1 << (ordinal & 31)
  return words
}

const sorted = (some: readonly number[]): number[] => some.toSorted((a, b) => a - b)

const leaf: fc.Arbitrary<Pair> = fc.oneof(
  ordinals.map((some) => ({
    postings: listPostings(sorted(some)),
    has: (ordinal: number) => some.includes(ordinal),
  })),
  ordinals.map((some) => ({
    postings: bitPostings(bits(some), some.length),
    has: (ordinal: number) => some.includes(ordinal),
  })),
  ordinals.map((some) => {
    const builder = postingsBuilder(END)
    for (const ordinal of [...some, ...some]) builder.add(ordinal)
    return { postings: builder.build(), has: (ordinal: number) => some.includes(ordinal) }
  }),
  fc.tuple(fc.nat(END), fc.nat(END)).map(([from, to]) => ({
    postings: rangePostings(from, to),
    has: (ordinal: number) => ordinal >= from && ordinal < to,
  })),
)

const { pair } = fc.letrec<{ pair: Pair }>((tie) => ({
  pair: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('pair'), { minLength: 1, maxLength: 4 }).map((pairs) => ({
      postings: allOfPostings(pairs.map(({ postings }) => postings)),
      has: (ordinal: number) => pairs.every(({ has }) => has(ordinal)),
    })),
    fc.array(tie('pair'), { maxLength: 4 }).map((pairs) => ({
      postings: anyOfPostings(pairs.map(({ postings }) => postings)),
      has: (ordinal: number) => pairs.some(({ has }) => has(ordinal)),
    })),
    tie('pair').map(({ postings, has }) => ({
      postings: exceptPostings(postings, END),
      has: (ordinal: number) => !has(ordinal),
    })),
  ),
}))

function nearest(has: Pair['has'], at: number, step: Step): number {
  for (let ordinal = at; ordinal >= 0 && ordinal < END; ordinal += step)
    if (has(ordinal)) return ordinal
  return NONE
}

describe('postings', () => {
  it('seek finds the nearest ordinal in both directions, and the size is at least the number of ordinals', () => {
    fc.assert(
      fc.property(
        pair,
        fc.array(fc.tuple(fc.nat(END - 1), fc.constantFrom<Step>(1, -1)), { minLength: 30 }),
        ({ postings, has }, seeks) => {
          for (const [at, step] of seeks)
            expect(postings.seek(at, step)).toBe(nearest(has, at, step))
          const count = Array.from({ length: END }, (_, i) => i).filter(has).length
          expect(postings.size).toBeGreaterThanOrEqual(count)
        },
      ),
      { numRuns: 400 },
    )
  })

  it('a bitmap may begin at any multiple of 32', () => {
    const postings = bitPostings(new Uint32Array([0b1010]), 2, 64)
    expect([
      postings.seek(0, 1),
      postings.seek(66, 1),
      postings.seek(68, 1),
      postings.seek(500, -1),
      postings.seek(66, -1),
      postings.seek(64, -1),
    ]).toEqual([65, 67, NONE, 67, 65, NONE])
  })
})

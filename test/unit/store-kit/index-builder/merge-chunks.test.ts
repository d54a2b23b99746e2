import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Scalar } from '../../../../src/filter/attributes.js'
import { encodeChunks } from '../../../../src/store-kit/index/chunks.js'
import {
  REMOVED_ORDINAL,
  mergeChunks,
} from '../../../../src/store-kit/index-builder/merge-chunks.js'
import { compareScalars, type Truth, truths } from '../../../support/index-values.js'

const END = 3000

interface Part {
  readonly truth: Truth
  /** Ordinals in the merged segment, by ordinal in the part. */
  readonly ordinals: readonly number[]
}

const chunksOf = (truth: Truth) =>
  encodeChunks([...truth].map(([value, ordinals]) => ({ value, ordinals })))

const merge = (parts: readonly Part[]) =>
  [
    ...mergeChunks(
      parts.map(({ truth, ordinals }) => ({
        chunks: chunksOf(truth),
        ordinals: Uint32Array.from(ordinals),
      })),
    ),
  ].map((chunk) => {
    const { first, ordinal, values, postings } = chunk!
    return { first, ordinal, values, postings: [...postings] }
  })

/** Encodes the values of all parts at once. */
function encodeAll(parts: readonly Part[]) {
  const all = new Map<Scalar, Set<number>>()
  for (const { truth, ordinals } of parts)
    for (const [value, list] of truth)
      for (const ordinal of list) {
        const next = ordinals[ordinal]!
        if (next === REMOVED_ORDINAL) continue
        if (!all.has(value)) all.set(value, new Set())
        all.get(value)!.add(next)
      }
  const sorted = [...all]
    .map(([value, set]) => [value, [...set].toSorted((a, b) => a - b)] as const)
    .toSorted(([a], [b]) => compareScalars(a, b))
  return [...chunksOf(new Map(sorted))].map(({ postings, ...rest }) => ({
    ...rest,
    postings: [...postings],
  }))
}

/** Parts of one type. `place` maps a part's ordinals to the merged segment. */
const parts = (places: fc.Arbitrary<(part: number, ordinal: number) => number>) =>
  fc
    .tuple(fc.array(truths(END), { minLength: 1, maxLength: 20 }), places)
    .map(([truths, place]) => {
      const kind = typeof [...truths[0]!.keys()][0]
      return truths
        .filter((truth) => [...truth.keys()].every((value) => typeof value === kind))
        .map((truth, part) => ({
          truth,
          ordinals: Array.from({ length: END }, (_, ordinal) => place(part, ordinal)),
        }))
    })

const agree = (places: fc.Arbitrary<(part: number, ordinal: number) => number>): void =>
  fc.assert(
    fc.property(parts(places), (parts) => {
      expect(merge(parts)).toEqual(encodeAll(parts))
    }),
    { numRuns: 60 },
  )

it('parts that do not overlap are merged', () => {
  agree(fc.constant((part, ordinal) => part * END + ordinal))
})

it('removed events are left out', () => {
  agree(
    fc
      .integer({ min: 1, max: 5 })
      .map(
        (every) => (part, ordinal) =>
          ordinal % every === 0
            ? REMOVED_ORDINAL
            : part * END + ordinal - Math.ceil(ordinal / every),
      ),
  )
})

it('parts that overlap or share events are merged in order', () => {
  agree(fc.constantFrom(1, 3).map((gap) => (part, ordinal) => ordinal * 7 + part * gap))
  agree(fc.constant((_part, ordinal) => ordinal))
})

it('chunks are read lazily', () => {
  const truth = new Map(
    Array.from({ length: 2000 }, (_, i) => [`value ${String(i).padStart(6, '0')}`, [i]] as const),
  )
  let read = 0
  function* counted() {
    for (const chunk of chunksOf(truth)) {
      read += 1
      yield chunk
    }
  }
  const ordinals = Uint32Array.from({ length: 2000 }, (_, i) => i)
  const merged = mergeChunks([{ chunks: counted(), ordinals }])
  merged.next()
  expect(read).toBeLessThan(4)
})

import fc from 'fast-check'
import { compareText } from '../../src/filter/values.js'
import type { Scalar } from '../../src/filter/attributes.js'
import { indexedText } from '../../src/store-kit/index/part.js'
import { NONE, type FetchedPostings } from '../../src/store-kit/index/postings.js'

/** Values of one type and the ordinals that have each. */
export type Truth = ReadonlyMap<Scalar, readonly number[]>

const numbers = fc.oneof(
  fc.integer({ min: -20, max: 20 }),
  fc.constantFrom(1e308, -1e308, 5e-324, 0.1, -5, 2 ** 53, Infinity, -Infinity),
  fc.double({ noNaN: true }),
)

const texts = fc
  .oneof(
    fc.constantFrom(
      '',
      ',',
      '"',
      '","',
      '\\',
      '\n',
      '[1]',
      'a\nb',
      '\u{1F600}',
      '\uFFFD',
      '\uE000',
    ),
    fc.string({ maxLength: 6 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.integer({ min: 0, max: 999 }).map((n) => `/api/projects/proj-${n}/changes`),
  )
  .map((text) => indexedText(text.toWellFormed()))

/** Ascending ordinals below `end`: few or many, near each other or not. */
const ordinals = (end: number): fc.Arbitrary<readonly number[]> =>
  fc
    .oneof(
      { weight: 4, arbitrary: fc.array(fc.nat(end - 1), { minLength: 1, maxLength: 4 }) },
      fc
        .tuple(fc.nat(end - 1), fc.constantFrom(1, 1, 2, 7, 8, 9, 40, 200), fc.nat(end))
        .map(([from, step, count]) => {
          const length = Math.max(1, Math.min(count, Math.floor((end - from) / step)))
          return Array.from({ length }, (_, i) => from + i * step)
        }),
    )
    .map((some) => [...new Set(some)].toSorted((a, b) => a - b))

export const compareScalars = (a: Scalar, b: Scalar): number => {
  if (typeof a === 'string') return compareText(a, b as string)
  return a < b ? -1 : Number(a > b)
}

/** Sorted values of one type, with ordinals below `end`. */
export const truths = (end: number): fc.Arbitrary<Truth> =>
  fc
    .oneof(fc.constant(numbers), fc.constant(texts), fc.constant(fc.boolean()))
    .chain((values: fc.Arbitrary<Scalar>) =>
      fc.array(fc.tuple(values, ordinals(end)), { maxLength: 60 }),
    )
    .map(sortedTruth)

export const sortedTruth = (pairs: Iterable<readonly [Scalar, readonly number[]]>): Truth =>
  new Map(
    [...new Map([...pairs].map(([value, list]) => [value === 0 ? 0 : value, list]))].toSorted(
      ([a], [b]) => compareScalars(a, b),
    ),
  )

/** All ordinals, in one direction. */
export function ordinalsOf(
  postings: FetchedPostings,
  step: 1 | -1 = 1,
  from = step > 0 ? 0 : 1e9,
): number[] {
  const met: number[] = []
  for (let at = postings.seek(from, step)!; at !== NONE; at = postings.seek(at + step, step)!) {
    met.push(at)
    if (at === 0 && step < 0) break
  }
  return met
}

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { oneCondition } from '../../../../src/filter/ast.js'
import { isStorableText, storableText } from '../../../../src/event/json-copy.js'
import { scalarTest } from '../../../../src/filter/evaluate.js'
import { compareText, spellings } from '../../../../src/filter/values.js'
import { type Chunk, encodeChunks } from '../../../../src/store-kit/index/chunks.js'
import type { NamedChunk } from '../../../../src/store-kit/maintenance/index-store.js'
import { findPostings } from '../../../../src/store-kit/index/find-postings.js'
import { placesOf } from '../../../../src/store-kit/index/find-grams.js'
import { ExtraList } from '../../../../src/store-kit/index/grams.js'
import { MIN_GRAM_CHUNKS, withGrams } from '../../../../src/store-kit/index-builder/list-grams.js'
import { indexFilter } from '../../../../src/store-kit/index/index-filter.js'
import {
  indexedText,
  type IndexPart,
  Kind,
  mayBeCut,
} from '../../../../src/store-kit/index/part.js'
import type { FetchedPostings } from '../../../../src/store-kit/index/postings.js'
import { ListKind, UNNAMED_LISTS } from '../../../../src/store-kit/index/segment-source.js'
import { ordinalsOf } from '../../../support/index-values.js'
import { memorySegment, type MemorySegment } from '../../../support/memory-segment.js'

type Test = 'cont' | 'end'

const textChunks = (texts: ReadonlyMap<string, readonly number[]>): Chunk[] => [
  ...encodeChunks(
    [...texts]
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([value, ordinals]) => ({ value, ordinals })),
  ),
]

const named = (chunks: readonly Chunk[]): NamedChunk[] =>
  chunks.map((chunk) => ({ name: 1, kind: Kind.text, chunk }))

const gramChunks = (chunks: readonly Chunk[], minGramChunks: number): Chunk[] =>
  [...withGrams(named(chunks), minGramChunks)]
    .filter(({ name, kind }) => name === 1 && kind === ListKind.grams)
    .map(({ chunk }) => chunk)

/** A segment with lists of grams and a segment without. `texts` are the texts of the events, by ordinal. */
function segmentsOf(texts: readonly string[]): Record<'listed' | 'plain', MemorySegment> {
  const ordinals = new Map<string, number[]>()
  for (const [i, text] of texts.map((one) => indexedText(one)).entries())
    ordinals.set(text, [...(ordinals.get(text) ?? []), i])
  const chunks = textChunks(ordinals)
  const kinds = [[Kind.text, chunks]] as const
  const grams = [[ListKind.grams, gramChunks(chunks, 1)]] as const
  return {
    plain: memorySegment(texts.length, new Map(kinds)),
    listed: memorySegment(texts.length, new Map([...kinds, ...grams])),
  }
}

function search(part: IndexPart, test: Test, text: string): number[] {
  const work = findPostings(part, indexFilter(oneCondition('text', test, [text])), () => [])
  if ('size' in work) return ordinalsOf(work)
  for (;;) {
    const { done, value } = work.next()
    if (done) return ordinalsOf(value)
  }
}

// Texts with common parts, so that most grams are in several groups.
const word = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('build', 'Fetch', 'RETRY', 'node', 'Σίσυφος', 'İx', 'ß'),
  },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 9999 }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('"', '\\', '\n', '\u0001', '\u007F', '😀', '\u212A', 'é'),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
)
const text = fc
  .tuple(
    fc.array(word, { minLength: 1, maxLength: 25, size: 'max' }),
    fc.constantFrom(' ', '', '-'),
    fc.oneof({ weight: 99, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(40) }),
  )
  .map(([words, between, times]) => words.join(between).repeat(times))
  .map(storableText)

const anyCase = (part: string, picks: readonly number[]): string =>
  Array.from(part, (char, i) => {
    const all = Array.from(spellings(char))
    return all[picks[i % picks.length]! % all.length]!
  }).join('')

/** A part of one of the texts in any case, or another text. The part may begin or end within a code point. */
const needle = (texts: readonly string[]): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 5,
      arbitrary: fc
        .tuple(
          fc.constantFrom(...texts),
          fc.nat(),
          fc.integer({ min: 1, max: 45 }),
          fc.boolean(),
          fc.array(fc.nat(5), { minLength: 1, maxLength: 5 }),
        )
        .map(([whole, at, length, atEnd, picks]) => {
          const chars = Array.from(whole)
          const from = atEnd ? Math.max(0, chars.length - length) : at % (chars.length + 1)
          return anyCase(chars.slice(from, from + length).join(''), picks)
        }),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...texts), fc.nat(), fc.integer({ min: 1, max: 6 }))
        .map(([whole, at, length]) => whole.slice(at % (whole.length + 1)).slice(0, length)),
    },
    { weight: 1, arbitrary: word },
  )

describe('searching with grams', () => {
  it('finds the same as a search without them', () => {
    let [found, skipped] = [0, 0]
    fc.assert(
      fc.property(
        fc
          .array(text, { minLength: 60, maxLength: 120, size: 'max' })
          .chain((texts) =>
            fc.tuple(
              fc.constant(texts),
              fc.array(needle(texts), { minLength: 20, maxLength: 20, size: 'max' }),
            ),
          ),
        ([texts, needles]) => {
          const { plain, listed } = segmentsOf(texts)
          for (const needle of needles.filter(isStorableText))
            for (const test of ['cont', 'end'] as const) {
              const passes = scalarTest(test, [needle])
              const expected = texts.flatMap((one, i) => {
                const value = indexedText(one)
                return passes(value) === true || mayBeCut(value) ? i : []
              })
              const [before, beforeListed] = [plain.reads.bulk, listed.reads.bulk]
              expect(search(plain.part, test, needle), JSON.stringify(needle)).toEqual(expected)
              expect(search(listed.part, test, needle), JSON.stringify(needle)).toEqual(expected)
              if (expected.length > 0) found += 1
              if (listed.reads.bulk - beforeListed < plain.reads.bulk - before) skipped += 1
            }
        },
      ),
      { numRuns: 20 },
    )
    expect(found).toBeGreaterThan(330)
    expect(skipped).toBeGreaterThan(10)
  })

  it('reads only the few chunks that may contain a text, and all pieces of its list', () => {
    const texts = Array.from({ length: 20_000 }, (_, i) =>
      i % 4 === 0 ? 'the Zephyr blows' : `event ${i} of the build on node ${i % 97}`,
    )
    texts[777] = 'a "Needle" here'
    const { plain, listed } = segmentsOf(texts)
    const many = texts.flatMap((one, i) => (one.startsWith('the') ? i : []))
    for (const [test, needle, expected] of [
      ['cont', '"NEEDLE"', [777]],
      ['end', '" HERE', [777]],
      ['cont', 'zephyr', many],
      ['cont', 'nothing like it', []],
    ] as const) {
      for (const { reads } of [plain, listed]) Object.assign(reads, { bulk: 0, byKey: 0 })
      expect(search(plain.part, test, needle)).toEqual(expected)
      expect(search(listed.part, test, needle)).toEqual(expected)
      expect(plain.reads.bulk).toBeGreaterThan(150)
      expect(listed.reads.bulk).toBeLessThan(10)
      expect(listed.reads.byKey).toBeLessThan(20)
    }
  })

  it('finds cut texts for any part', () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `event ${i} of the build`)
    texts[1234] = `${'k'.repeat(600)} needle`
    const { listed } = segmentsOf(texts)
    expect(search(listed.part, 'cont', 'needle')).toEqual([1234])
    expect(listed.reads.bulk).toBeLessThan(5)
  })

  /** Finds the lists of grams for chunks of these lines. */
  function listed(lines: readonly string[]): (value: number) => FetchedPostings {
    const chunks = lines.map((values) => ({
      first: 0,
      ordinal: 0,
      values,
      postings: new Uint8Array(),
    }))
    const { part } = memorySegment(1, new Map([[Kind.number, gramChunks(chunks, 1)]]))
    return (value) => part.find('', value)
  }

  it('a gram has a list if it is in a few groups or at most half of them', () => {
    const [groups, first] = [41, 0x4e00]
    const word = (k: number): string =>
      String.fromCodePoint(...[0, 1, 2].map((i) => first + 3 * k + i))
    // Word k is in the first k groups of two chunks.
    const find = listed(
      Array.from({ length: 2 * groups - 1 }, (_, place) =>
        Array.from({ length: groups + 1 }, (_, k) => k)
          .filter((k) => Math.floor(place / 2) < k)
          .map(word)
          .join(' '),
      ),
    )
    const places = Array.from({ length: groups + 1 }, (_, k) =>
      placesOf(word(k), (values) => values.map(find)),
    )
    expect(places).toEqual(
      places.map((_, k) => {
        if (k > groups / 2) return undefined
        return k === 0 ? [] : [{ from: 0, to: 2 * k }]
      }),
    )
  })

  it('groups grow with the number of chunks', () => {
    const count = 20_000
    const find = listed(Array.from({ length: count }, (_, i) => `"word ${i}x"`))
    expect(ordinalsOf(find(ExtraList.groupSize))).toEqual([8])
    const finds = (values: readonly number[]): readonly FetchedPostings[] => values.map(find)
    for (let i = 0; i < count; i += 77) {
      const ranges = placesOf(`WORD ${i}X`, finds)!
      expect(ranges.some(({ from, to }) => from <= i && i < to)).toBe(true)
      expect(ranges.reduce((sum, { from, to }) => sum + to - from, 0)).toBeLessThan(count / 2)
      expect(ranges.at(-1)!.to).toBeLessThanOrEqual(count)
    }
  })

  it('grams are listed only for texts of names with enough chunks', () => {
    const some = textChunks(
      new Map(Array.from({ length: 9000 }, (_, i) => [`a text with the number ${i}`, [i]])),
    )
    const namesOf = (chunks: readonly NamedChunk[], minChunks?: number): number[] => [
      ...new Set(
        [...withGrams(chunks, minChunks)].flatMap(({ name, kind }) =>
          kind === ListKind.grams && name !== UNNAMED_LISTS ? name : [],
        ),
      ),
    ]
    const [FEW, MANY, NUMBERS, FEW_AGAIN] = [1, 2, 3, 4] as const
    const few = some.slice(0, MIN_GRAM_CHUNKS - 1)
    const of = (name: number, kind: number, chunks: readonly Chunk[]): NamedChunk[] =>
      chunks.map((chunk) => ({ name, kind, chunk }))
    expect(some.length).toBeGreaterThanOrEqual(MIN_GRAM_CHUNKS)
    const chunks = [
      ...of(FEW, Kind.text, few),
      ...of(MANY, Kind.text, some),
      ...of(MANY, ListKind.containers, some.slice(0, 1)),
      ...of(NUMBERS, Kind.number, some),
      ...of(FEW_AGAIN, Kind.text, few),
    ]
    expect(namesOf(chunks)).toEqual([MANY])
    expect(namesOf(chunks, few.length)).toEqual([FEW, MANY, FEW_AGAIN])
    const all = [...withGrams(chunks)]
    expect(all.filter(({ kind }) => kind !== ListKind.grams)).toEqual(chunks)
    const at = all.findIndex(({ kind }) => kind === ListKind.grams)
    expect([all[at - 1]!.kind, all[at]!.name]).toEqual([ListKind.containers, MANY])
  })
})

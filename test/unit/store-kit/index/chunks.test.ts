import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Scalar } from '../../../../src/filter/attributes.js'
import { compareText } from '../../../../src/filter/values.js'
import {
  type Chunk,
  encodeChunks,
  Layout,
  valueLine,
} from '../../../../src/store-kit/index/chunks.js'
import {
  indexOfLine,
  isPiece,
  listBounds,
  listSize,
  readList,
  readPiece,
  readValues,
} from '../../../../src/store-kit/index/read-chunks.js'
import { ordinalsOf, type Truth, truths } from '../../../support/index-values.js'

const END = 70_000
const PAGE = 3900

const encode = (truth: Truth): Chunk[] => [
  ...encodeChunks([...truth].map(([value, ordinals]) => ({ value, ordinals }))),
]

/** Decodes chunks to values, each with all of its ordinals. */
function decode(chunks: readonly Chunk[]): [Scalar, number[]][] {
  const entries: [Scalar, number[]][] = []
  for (const { first, values: lines, postings: data } of chunks) {
    const values = readValues(lines)
    expect(values[0]).toBe(first)
    if (!isPiece(data)) {
      const bounds = listBounds(data)
      for (const [i, value] of values.entries()) {
        const list = readList(data, bounds[i]!, bounds[i + 1]!)
        expect(list.length).toBe(listSize(data, bounds[i]!, bounds[i + 1]!))
        entries.push([value, [...list]])
      }
      continue
    }
    const last = entries.at(-1)
    const list = ordinalsOf(readPiece(data).postings)
    if (last?.[0] === first) last[1].push(...list)
    else entries.push([first, list])
  }
  return entries
}

it('chunks fit in a page, have ascending keys, and decode to the values with their ordinals', () => {
  fc.assert(
    fc.property(truths(END), (truth) => {
      const chunks = encode(truth)
      let before: Chunk | undefined
      for (const chunk of chunks) {
        expect(Buffer.byteLength(chunk.values) + chunk.postings.length).toBeLessThanOrEqual(PAGE)
        if (before?.first === chunk.first) expect(chunk.ordinal).toBeGreaterThan(before.ordinal)
        before = chunk
      }
      expect(decode(chunks)).toEqual([...truth].map(([value, list]) => [value, [...list]]))
    }),
    { numRuns: 200 },
  )
})

it('many values fill their pages', () => {
  const values = Array.from(
    { length: 3000 },
    (_, i) => `${i % 2 ? 'ü' : 'u'}"${i * 7919}"\u{1F600}`,
  )
  const truth = new Map(
    values
      .toSorted(compareText)
      .map((value, i) => [value, i % 5 ? [i] : [i, i + 300, i + 60_000]] as const),
  )
  const chunks = encode(truth)
  expect(decode(chunks)).toEqual([...truth])
  const sizes = chunks.map(({ values, postings }) => Buffer.byteLength(values) + postings.length)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(PAGE)
  // Only the last chunk may be half empty.
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThan(PAGE * 0.95)
})

it('a piece has its first and last ordinal and the size of the whole list', () => {
  const ordinals = Array.from({ length: 9000 }, (_, i) => 11 + i * 13)
  const chunks = encode(new Map([['x', ordinals]]))
  expect(chunks.length).toBeGreaterThan(1)
  let next = 0
  for (const { ordinal, postings } of chunks) {
    const piece = readPiece(postings)
    const list = ordinalsOf(piece.postings)
    expect([ordinal, piece.first, piece.last]).toEqual([list[0], list[0], list.at(-1)])
    expect(piece.size).toBe(9000)
    expect(list).toEqual(ordinals.slice(next, next + list.length))
    next += list.length
  }
  expect(next).toBe(9000)
})

it('dense pieces are bitmaps, others lists', () => {
  const layouts = (step: number): number[] => {
    const ordinals = Array.from({ length: 5000 }, (_, i) => 5 + i * step)
    return encode(new Map([[true, ordinals]])).map(({ postings }) => postings[0]!)
  }
  expect(new Set(layouts(7))).toEqual(new Set([Layout.bits]))
  expect(layouts(9)[0]).toBe(Layout.list)
  expect(layouts(1)).toEqual([Layout.bits])
})

it('only whole lines are found', () => {
  fc.assert(
    fc.property(truths(9), fc.string(), (truth, other) => {
      const values = [...truth.keys()]
      const lines = values.map(valueLine).join('\n')
      for (const [i, value] of values.entries())
        expect(indexOfLine(lines, valueLine(value))).toBe(i)
      if (!truth.has(other)) expect(indexOfLine(lines, valueLine(other))).toBe(-1)
    }),
  )
  expect(indexOfLine('11\n1\n110', '1')).toBe(1)
  expect(indexOfLine('11\n110', '1')).toBe(-1)
  expect(indexOfLine('', '1')).toBe(-1)
})

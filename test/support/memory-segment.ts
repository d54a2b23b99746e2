import { compareText } from '../../src/filter/values.js'
import type { Chunk } from '../../src/store-kit/index/chunks.js'
import type { IndexPart, Order } from '../../src/store-kit/index/part.js'
import { TIMES_PER_BLOCK } from '../../src/store-kit/index/time-blocks.js'
import { openSegment } from '../../src/store-kit/index/segment.js'
import {
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
} from '../../src/store-kit/index/segment-source.js'

/** The chunks of one kind, in the order of their keys. */
type Lists = readonly ChunkValues[]

export interface MemorySegment {
  readonly part: IndexPart
  /** Numbers of chunks that were read in bulk and by key. */
  readonly reads: { bulk: number; byKey: number }
}

const compareKeys = (a: Key, b: Key): number =>
  typeof a === 'string' ? compareText(a, b as string) : a - (b as number)

/** As `ChunkReader.walk`, along all chunks of some lists. */
export function* walkArray(
  chunks: Lists,
  order: Order,
  from: Key | undefined,
): Generator<ChunkValues, void, undefined> {
  const inOrder = order === 'asc' ? chunks : chunks.toReversed()
  const isTooEarly = ([key]: ChunkValues): boolean => {
    if (from === undefined) return false
    if (order === 'desc') return compareKeys(key, from) > 0
    const floor = chunks.findLast(([first]) => compareKeys(first, from) <= 0)
    return floor !== undefined && compareKeys(key, floor[0]) < 0
  }
  let last: Key | undefined
  for (const chunk of inOrder) {
    if (!isTooEarly(chunk) && chunk[0] !== last) yield chunk
    last = chunk[0]
  }
}

/** A segment of `size` events, a microsecond apart, with these chunks by kind. */
export function memorySegment(
  size: number,
  kinds: ReadonlyMap<number, readonly Chunk[]>,
): MemorySegment {
  const reads = { bulk: 0, byKey: 0 }
  const byKind = new Map(
    [...kinds].map(([kind, chunks]): [number, Lists] => [
      kind,
      chunks.map(({ first, ordinal, values, postings }): ChunkValues => [
        keyOf(first),
        ordinal,
        values,
        postings,
      ]),
    ]),
  )
  const first = (lists: Lists, is: (chunk: ChunkValues) => boolean): ChunkValues | undefined =>
    counted(lists.find(is))
  const last = (lists: Lists, is: (chunk: ChunkValues) => boolean): ChunkValues | undefined =>
    counted(lists.findLast(is))
  const counted = (chunk: ChunkValues | undefined): ChunkValues | undefined => {
    if (chunk) reads.byKey += 1
    return chunk
  }
  const chunks: ChunkReader<Lists> = {
    *inBulk(lists, places = [{ from: 0, to: lists.length }]) {
      for (const { from, to } of places)
        for (const chunk of lists.slice(from, to)) {
          reads.bulk += 1
          yield [{ id: 0, lines: chunk[2], postings: chunk[3] }]
        }
    },
    floor: (lists, key) => last(lists, (c) => compareKeys(c[0], key) <= 0),
    *walk(lists, order, from) {
      for (const chunk of walkArray(lists, order, from)) yield counted(chunk)!
    },
    pieceAt: (lists, key, at) => last(lists, (c) => c[0] === key && c[1] <= at),
    pieceAfter: (lists, key, at) => first(lists, (c) => c[0] === key && c[1] > at),
  }
  const source = {
    chunks,
    listsOf: (_: string | number | undefined, kind: number) => byKind.get(kind),
    timesOf(block: number): readonly number[] {
      const from = block * TIMES_PER_BLOCK
      return Array.from({ length: Math.min(TIMES_PER_BLOCK, size - from) }, (_, i) => from + i)
    },
    firstTimeOf: (block: number) => block * TIMES_PER_BLOCK,
  }
  return {
    part: openSegment(source, {
      id: 1,
      size,
      first: 0,
      last: size - 1,
      isPartial: false,
    }) as IndexPart,
    reads,
  }
}

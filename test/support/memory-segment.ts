import { compareText } from '../../src/filter/values.js'
import type { Chunk } from '../../src/store-kit/index/chunks.js'
import type { IndexPart } from '../../src/store-kit/index/part.js'
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
  const floor = (lists: Lists, key: Key) => last(lists, (c) => compareKeys(c[0], key) <= 0)
  const ids = new Map([...byKind.values()].flat().map((chunk, id) => [chunk, id]))
  const chunks: ChunkReader<Lists> = {
    *inBulk(lists, places = [{ from: 0, to: lists.length }]) {
      for (const { from, to } of places)
        for (const chunk of lists.slice(from, to)) {
          reads.bulk += 1
          yield [{ id: ids.get(chunk)!, lines: chunk[2] }]
        }
    },
    at: (id) => [...ids.keys()][id]!,
    floor,
    floors: (lists, keys) => keys.map((key) => floor(lists, key)),
    before: (lists, key) => last(lists, (c) => compareKeys(c[0], key) < 0),
    after: (lists, key) => first(lists, (c) => compareKeys(c[0], key) > 0),
    first: (lists) => first(lists, () => true),
    last: (lists) => last(lists, () => true),
    pieceAt: (lists, key, at) => last(lists, (c) => c[0] === key && c[1] <= at),
    pieceAfter: (lists, key, at) => first(lists, (c) => c[0] === key && c[1] > at),
  }
  const source = {
    chunks,
    listsOf: (_: string | number | undefined, kind: number) => byKind.get(kind),
    timesOf: (): readonly number[] => Array.from({ length: size }, (_, i) => i),
    firstTimeOf: () => 0,
  }
  return {
    part: openSegment(source, { id: 1, size, first: 0, last: size - 1, isPartial: false }),
    reads,
  }
}

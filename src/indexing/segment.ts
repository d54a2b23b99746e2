import type { Scalar } from '../filter/attributes.js'
import { compareText } from '../filter/values.js'
import { ANY_VALUE, valueLine } from './chunks.js'
import { indexedValue, type IndexPart, kindOf, type Order, type ValueEntry } from './part.js'
import { EMPTY, type Postings } from './postings.js'
import { indexOfLine, readValues } from './read-chunks.js'
import { type ChunkLists, chunkLists } from './segment-postings.js'
import {
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
  ListKind,
  type SegmentInfo,
  type SegmentSource,
} from './segment-source.js'
import { segmentTimes } from './segment-times.js'

/**
 * A segment, of which nothing is read before it is asked for; a value, and each further piece of its
 * list, takes one read.
 */
export function openSegment<Lists>(source: SegmentSource<Lists>, info: SegmentInfo): IndexPart {
  const { id, size, first, last } = info
  const { chunks: reader, listsOf } = source
  const { timeOf, countBefore } = segmentTimes(source, info)
  let unindexed: Postings | undefined

  const find = (lists: Lists | undefined, value: Scalar): Postings => {
    if (lists === undefined) return EMPTY
    const chunk = reader.floor(lists, keyOf(value))
    const index = chunk ? indexOfLine(chunk[2], valueLine(value)) : -1
    return chunk && index >= 0 ? chunkLists(reader, lists, chunk, true).postings(index) : EMPTY
  }

  return {
    id: String(id),
    size,
    first,
    last,
    timeOf,
    countBefore,
    values(name, kind, order, from) {
      const lists = listsOf(name, kind)
      return lists === undefined ? [] : valuesOf(reader, lists, order, from)
    },
    search(name, kind, mayPass) {
      const lists = listsOf(name, kind)
      return lists === undefined ? [] : searchChunks(reader, lists, mayPass)
    },
    find: (name, value) => find(listsOf(name, kindOf(value)), sameNumber(indexedValue(value))),
    valued: (name) => find(listsOf(name, ListKind.valued), ANY_VALUE),
    containers: (name) => find(listsOf(name, ListKind.containers), ANY_VALUE),
    get unindexed() {
      return (unindexed ??= find(listsOf(undefined, ListKind.unindexed), ANY_VALUE))
    },
  }
}

/** Goes through the chunks in bulk. Of pieces the first has the list of all. */
function* searchChunks<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  mayPass: (lines: string) => boolean,
): Generator<ValueEntry | undefined, void> {
  let before: string | undefined
  for (const chunks of reader.inBulk(lists)) {
    for (const { id, lines } of chunks) {
      if (lines !== before && mayPass(lines))
        yield* entriesOf(reader, lists, reader.at(id, lines), true)
      before = lines
    }
    yield
  }
}

/** There is one zero. */
const sameNumber = (value: Scalar): Scalar => (value === 0 ? 0 : value)

function* valuesOf<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  order: Order,
  from: Scalar | undefined,
): Generator<ValueEntry, void> {
  const isRising = order === 'asc'
  const passes = from === undefined ? undefined : boundOf(from, isRising)
  let chunk = startOf(reader, lists, isRising, from)
  while (chunk) {
    const entries = entriesOf(reader, lists, chunk, isRising)
    if (!isRising) entries.reverse()
    for (const entry of entries) if (!passes || passes(entry.value)) yield entry
    chunk = isRising ? reader.after(lists, chunk[0]) : reader.before(lists, chunk[0])
  }
}

function startOf<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  isRising: boolean,
  from: Scalar | undefined,
): ChunkValues | undefined {
  if (from === undefined) return isRising ? reader.first(lists) : reader.last(lists)
  const floor = reader.floor(lists, startKey(from, isRising))
  return floor ?? (isRising ? reader.first(lists) : undefined)
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** Half a character has no place in the order of keys, nor is it in the index; before it, or behind it, is. */
function startKey(from: Scalar, isRising: boolean): Key {
  if (typeof from !== 'string') return keyOf(from)
  const at = from.search(LONE_SURROGATE)
  return at < 0 ? from : from.slice(0, at) + (isRising ? '' : '\u{10FFFF}')
}

/** Tells whether a value is not before `from` in the direction. */
function boundOf(from: Scalar, isRising: boolean): (value: Scalar) => boolean {
  if (typeof from === 'string')
    return isRising
      ? (value) => compareText(value as string, from) >= 0
      : (value) => compareText(value as string, from) <= 0
  return isRising ? (value) => value >= from : (value) => value <= from
}

/** The values of a chunk in their order; their lists are read where they are asked for. */
function entriesOf<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  chunk: ChunkValues,
  isRising: boolean,
): ValueEntry[] {
  let known: ChunkLists | undefined
  const chunks = (): ChunkLists => (known ??= chunkLists(reader, lists, chunk, !isRising))
  return readValues(chunk[2]).map((value, index) => ({
    value,
    get size() {
      return chunks().sizeOf(index)
    },
    postings: () => chunks().postings(index),
  }))
}

import type { Scalar } from '../../filter/attributes.js'
import { compareText } from '../../filter/values.js'
import { ANY_VALUE, valueLine } from './chunks.js'
import { type FindLists, placesOf } from './find-grams.js'
import {
  indexedValue,
  type IndexPart,
  Kind,
  kindOf,
  type LineSearch,
  type Order,
  type ValueEntry,
} from './part.js'
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

  const find = (lists: Lists | undefined, value: Scalar): Postings =>
    lists === undefined ? EMPTY : inChunk(reader, lists, reader.floor(lists, keyOf(value)), value)

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
    search(name, kind, search) {
      const lists = listsOf(name, kind)
      if (lists === undefined) return []
      const grams = kind === Kind.text ? listsOf(name, ListKind.grams) : undefined
      return searchChunks(reader, lists, grams, search)
    },
    find: (name, value) => find(listsOf(name, kindOf(value)), sameNumber(indexedValue(value))),
    valued: (name) => find(listsOf(name, ListKind.valued), ANY_VALUE),
    containers: (name) => find(listsOf(name, ListKind.containers), ANY_VALUE),
    get unindexed() {
      return (unindexed ??= find(listsOf(undefined, ListKind.unindexed), ANY_VALUE))
    },
  }
}

/** What has the value, where the chunk is the last one that begins with it, or before. */
function inChunk<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  chunk: ChunkValues | undefined,
  value: Scalar,
): Postings {
  const index = chunk ? indexOfLine(chunk[2], valueLine(value)) : -1
  return chunk && index >= 0 ? chunkLists(reader, lists, chunk, true).postings(index) : EMPTY
}

/**
 * Goes through the chunks in bulk, of which the grams may tell that some are not worth it. Of pieces the
 * first has the list of all.
 */
function* searchChunks<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  grams: Lists | undefined,
  { part, mayPass }: LineSearch,
): Generator<ValueEntry | undefined, void> {
  const find: FindLists = (values) => {
    const chunks = reader.floors(grams!, values)
    return values.map((value, i) => inChunk(reader, grams!, chunks[i], value))
  }
  const places = grams === undefined ? undefined : placesOf(part, find)
  let before: string | undefined
  for (const chunks of reader.inBulk(lists, places)) {
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
    yield* entriesOf(reader, lists, chunk, isRising, passes)
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

/** The values of a chunk that pass, in the order; their lists are read where they are asked for. */
function* entriesOf<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  chunk: ChunkValues,
  isRising: boolean,
  passes?: (value: Scalar) => boolean,
): Generator<ValueEntry, void> {
  let known: ChunkLists | undefined
  const chunks = (): ChunkLists => (known ??= chunkLists(reader, lists, chunk, !isRising))
  const values = readValues(chunk[2])
  for (let i = 0; i < values.length; i++) {
    const index = isRising ? i : values.length - 1 - i
    const value = values[index]!
    if (passes && !passes(value)) continue
    yield {
      value,
      get size() {
        return chunks().sizeOf(index)
      },
      postings: () => chunks().postings(index),
    }
  }
}

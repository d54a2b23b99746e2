import type { Scalar } from '../../src/filter/attributes.js'
import { compareText } from '../../src/filter/values.js'
import { ANY_VALUE, valueLine } from '../../src/indexing/chunks.js'
import {
  indexedValue,
  type IndexPart,
  kindOf,
  type Order,
  type ValueEntry,
} from '../../src/indexing/part.js'
import { EMPTY, type Postings } from '../../src/indexing/postings.js'
import { indexOfLine, readValues } from '../../src/indexing/read-chunks.js'
import type { Connection } from './connection.js'
import { type Key, keyOf, ListKind, NO_NAME, type SegmentRow } from './index-tables.js'
import {
  type ChunkReader,
  type ChunkValues,
  createChunkReader,
  type Lists,
} from './segment-chunks.js'
import { segmentNames } from './segment-names.js'
import { type ChunkLists, chunkLists } from './segment-postings.js'
import { segmentTimes } from './segment-times.js'

/**
 * A visible segment, as long as it is that: see `loadIndexState`. Nothing of it is read before it is
 * asked for; a value, and each further piece of its list, takes one read, which `onRead` is told of.
 */
export function openSegment(
  connection: Connection,
  row: SegmentRow,
  onRead?: () => void,
): IndexPart {
  const { id, size, first, last } = row
  const names = segmentNames(connection)
  const reader = createChunkReader(connection, onRead)
  const { timeOf, countBefore } = segmentTimes(connection, row)
  let unindexed: Postings | undefined

  const listsOf = (name: string, kind: number): Lists | undefined => {
    const number = names.find(name)
    return number === undefined ? undefined : { segment: id, name: number, kind }
  }

  const find = (lists: Lists, value: Scalar): Postings => {
    const chunk = reader.floor(lists, keyOf(value))
    const index = chunk ? indexOfLine(chunk[2], valueLine(value)) : -1
    return chunk && index >= 0 ? chunkLists(reader, lists, chunk, true).postings(index) : EMPTY
  }

  const findAny = (name: string, kind: number): Postings => {
    const lists = listsOf(name, kind)
    return lists ? find(lists, ANY_VALUE) : EMPTY
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
      return lists ? valuesOf(reader, lists, order, from) : []
    },
    search(name, kind, mayPass) {
      const lists = listsOf(name, kind)
      return lists ? searchChunks(reader, lists, mayPass) : []
    },
    find(name, value) {
      const lists = listsOf(name, kindOf(value))
      return lists ? find(lists, sameNumber(indexedValue(value))) : EMPTY
    },
    valued: (name) => findAny(name, ListKind.valued),
    containers: (name) => findAny(name, ListKind.containers),
    get unindexed() {
      const lists = { segment: id, name: NO_NAME, kind: ListKind.unindexed }
      unindexed ??= find(lists, ANY_VALUE)
      return unindexed
    },
  }
}

/** Goes through the chunks in bulk. Of pieces the first has the list of all. */
function* searchChunks(
  reader: ChunkReader,
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

function* valuesOf(
  reader: ChunkReader,
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

function startOf(
  reader: ChunkReader,
  lists: Lists,
  isRising: boolean,
  from: Scalar | undefined,
): ChunkValues | undefined {
  if (from === undefined) return isRising ? reader.first(lists) : reader.last(lists)
  const floor = reader.floor(lists, startKey(from, isRising))
  return floor ?? (isRising ? reader.first(lists) : undefined)
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** What SQLite has no text for is not in the index either; before it, or behind it, is. */
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
function entriesOf(
  reader: ChunkReader,
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

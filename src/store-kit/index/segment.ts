import type { Scalar } from '../../filter/attributes.js'
import { compareText } from '../../filter/values.js'
import { ANY_VALUE, valueLine } from './chunks.js'
import { type FindLists, placesOf } from './find-grams.js'
import { ExtraList } from './grams.js'
import {
  indexedValue,
  type IndexPart,
  Kind,
  kindOf,
  type LineSearch,
  type Order,
  type ValueEntry,
} from './part.js'
import { partialEvents } from './partial-events.js'
import { EMPTY, NONE, type Postings } from './postings.js'
import { indexOfLine, isPiece, type Piece, readPiece, readValues } from './read-chunks.js'
import {
  type ChunkPostings,
  chunkPostings,
  joinedPostings,
  sharedPostings,
} from './segment-postings.js'
import {
  type BulkSearch,
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf,
  ListKind,
  type PlaceRange,
  type SegmentInfo,
  type SegmentSource,
  type WholeChunk,
} from './segment-source.js'
import { segmentTimes } from './segment-times.js'

/** Reads a segment lazily: one read for a value, and one for each further piece of its list. */
export function openSegment<Lists>(source: SegmentSource<Lists>, info: SegmentInfo): IndexPart {
  const { id, size, first, last, isPartial } = info
  const { chunks: reader, listsOf } = source
  const { timeOf, countBefore } = segmentTimes(source, info)
  const knownPartial = new Map<string, Postings>()

  const find = (lists: Lists | undefined, value: Scalar): Postings =>
    lists === undefined ? EMPTY : inChunk(reader, lists, reader.floor(lists, keyOf(value)), value)

  const listOf = (name: string | number | undefined, kind: number): Postings =>
    find(listsOf(name, kind), ANY_VALUE)
  const partialOf = (name: string): Postings =>
    partialEvents(name, {
      own: () => listOf(name, ListKind.partial),
      hashed: (hash) => find(listsOf(undefined, ListKind.otherNames), hash),
      others: () => listOf(undefined, ListKind.others),
      // A column without any list counts as missing.
      hasColumn: () =>
        [ListKind.valued, ListKind.containers, ListKind.partial].some(
          (kind) => listOf(name, kind).size > 0,
        ),
    })

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
    ...(reader.whole && {
      all(name: string, kind: Kind) {
        const lists = listsOf(name, kind)
        return lists === undefined ? [] : wholeEntries(reader.whole!(lists))
      },
    }),
    search(name, kind, search) {
      const lists = listsOf(name, kind)
      if (lists === undefined) return []
      const grams = kind === Kind.text ? listsOf(name, ListKind.grams) : undefined
      return searchChunks(reader, lists, grams, search)
    },
    texts: (search) => searchNames(source, search),
    sources(search) {
      const lists = listsOf(undefined, Kind.text)
      return lists === undefined ? [] : searchAll(reader, [{ lists, places: undefined }], search)
    },
    partialTexts: () => (isPartial ? listOf(undefined, ListKind.partialTexts) : EMPTY),
    find: (name, value) => find(listsOf(name, kindOf(value)), positiveZero(indexedValue(value))),
    valued: (name) => listOf(name, ListKind.valued),
    containers: (name) => listOf(name, ListKind.containers),
    partial(name) {
      if (!isPartial) return EMPTY
      let found = knownPartial.get(name)
      if (!found) {
        found = partialOf(name)
        if (knownPartial.size >= MAX_KNOWN_PARTIAL) knownPartial.clear()
        knownPartial.set(name, found)
      }
      return found
    },
  }
}

/** Maximum number of names for which a segment keeps the events that may match any filter. */
const MAX_KNOWN_PARTIAL = 64

/** The postings of the value; `chunk` is the last one whose first value is not above it. */
function inChunk<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  chunk: ChunkValues | undefined,
  value: Scalar,
): Postings {
  const index = chunk ? indexOfLine(chunk[2], valueLine(value)) : -1
  return chunk && index >= 0 ? chunkPostings(reader, lists, chunk, true).postings(index) : EMPTY
}

const findLists =
  <Lists>(reader: ChunkReader<Lists>, grams: Lists): FindLists =>
  (values) => {
    const chunks = reader.floors(grams, values)
    return values.map((value, i) => inChunk(reader, grams, chunks[i], value))
  }

/** Searches the texts of all names, except names that the grams exclude. */
function* searchNames<Lists>(
  { chunks: reader, listsOf }: SegmentSource<Lists>,
  search: LineSearch,
): Generator<ValueEntry | undefined, void> {
  const grams = listsOf(undefined, ListKind.grams)!
  const find = findLists(reader, grams)
  const [all] = find([ExtraList.names])
  const ranges = placesOf(search.part, find) ?? [{ from: 0, to: Infinity }]
  const reads: (() => BulkSearch<Lists>)[] = []
  let place = 0
  for (let name = all!.seek(0, 1); name !== NONE; name = all!.seek(name + 1, 1), place++)
    if (ranges.some(({ from, to }) => place >= from && place < to)) {
      const [lists, ofName] = [listsOf(name, Kind.text)!, listsOf(name, ListKind.grams)!]
      reads.push(() => ({ lists, places: placesOf(search.part, findLists(reader, ofName)) }))
    }
  yield* searchAll(reader, reader.together?.(reads) ?? reads.map((read) => read()), search)
}

function* searchAll<Lists>(
  reader: ChunkReader<Lists>,
  searches: readonly BulkSearch<Lists>[],
  { mayPass }: LineSearch,
): Generator<ValueEntry | undefined, void> {
  reader.prepare?.(searches)
  yield
  for (const { lists, places } of searches) yield* searchPlaces(reader, lists, places, mayPass)
}

/** Reads the chunks that the grams do not exclude. */
function searchChunks<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  grams: Lists | undefined,
  { part, mayPass }: LineSearch,
): Generator<ValueEntry | undefined, void> {
  const places = grams === undefined ? undefined : placesOf(part, findLists(reader, grams))
  return searchPlaces(reader, lists, places, mayPass)
}

/** Reads the chunks in bulk. Reads a list in pieces from its first piece. */
function* searchPlaces<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  places: readonly PlaceRange[] | undefined,
  mayPass: LineSearch['mayPass'],
): Generator<ValueEntry | undefined, void> {
  let before: string | undefined
  for (const chunks of reader.inBulk(lists, places)) {
    for (const { id, lines } of chunks) {
      if (lines !== before && mayPass(lines))
        yield* entriesOf(reader, lists, reader.at(id, lines), { isRising: true })
      before = lines
    }
    yield
  }
}

/** The values of whole chunks. A list in pieces has several chunks. */
function* wholeEntries(bulks: Iterable<readonly WholeChunk[]>): Generator<ValueEntry, void> {
  let line: string | undefined
  let pieces: Piece[] = []
  for (const chunks of bulks)
    for (const { lines, postings } of chunks) {
      if (lines === line) {
        pieces.push(readPiece(postings))
        continue
      }
      if (line !== undefined) yield pieceEntry(line, pieces)
      line = isPiece(postings) ? lines : undefined
      if (line === undefined) yield* sharedEntries(lines, postings)
      else pieces = [readPiece(postings)]
    }
  if (line !== undefined) yield pieceEntry(line, pieces)
}

const pieceEntry = (line: string, pieces: readonly Piece[]): ValueEntry => ({
  value: readValues(line)[0]!,
  size: pieces[0]!.size,
  postings: () => joinedPostings(pieces),
})

function* sharedEntries(lines: string, data: Uint8Array): Generator<ValueEntry, void> {
  const lists = sharedPostings(data)
  const chunks = (): ChunkPostings => lists
  const values = readValues(lines)
  for (let i = 0; i < values.length; i++) yield new ChunkEntry(values[i]!, i, chunks)
}

/** The index has no negative zero. */
const positiveZero = (value: Scalar): Scalar => (value === 0 ? 0 : value)

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
    yield* entriesOf(reader, lists, chunk, { isRising, passes })
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

/**
 * The key to start at. Keys have no lone surrogates: a start that has one is cut there, and is placed
 * before or after all keys that begin with the rest.
 */
function startKey(from: Scalar, isRising: boolean): Key {
  if (typeof from !== 'string') return keyOf(from)
  const at = from.search(LONE_SURROGATE)
  return at < 0 ? from : from.slice(0, at) + (isRising ? '' : '\u{10FFFF}')
}

/** Tests whether a value is not before `from` in the direction. */
function boundOf(from: Scalar, isRising: boolean): (value: Scalar) => boolean {
  if (typeof from === 'string')
    return isRising
      ? (value) => compareText(value as string, from) >= 0
      : (value) => compareText(value as string, from) <= 0
  return isRising ? (value) => value >= from : (value) => value <= from
}

interface EntryOptions {
  readonly isRising: boolean
  readonly passes?: ((value: Scalar) => boolean) | undefined
}

/** The values of a chunk that pass, in order; their lists are decoded lazily. */
function* entriesOf<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  chunk: ChunkValues,
  { isRising, passes }: EntryOptions,
): Generator<ValueEntry, void> {
  let known: ChunkPostings | undefined
  const chunks = (): ChunkPostings => (known ??= chunkPostings(reader, lists, chunk, !isRising))
  const values = readValues(chunk[2])
  for (let i = 0; i < values.length; i++) {
    const index = isRising ? i : values.length - 1 - i
    const value = values[index]!
    if (passes && !passes(value)) continue
    yield new ChunkEntry(value, index, chunks)
  }
}

/** A class, because an object with a getter would get a hidden class of its own for each value. */
class ChunkEntry implements ValueEntry {
  readonly value: Scalar
  readonly #index: number
  readonly #chunks: () => ChunkPostings

  constructor(value: Scalar, index: number, chunks: () => ChunkPostings) {
    this.value = value
    this.#index = index
    this.#chunks = chunks
  }

  get size(): number {
    return this.#chunks().sizeOf(this.#index)
  }

  postings(): Postings {
    return this.#chunks().postings(this.#index)
  }
}

import type { Scalar } from '../../filter/attributes.js'
import { compareText } from '../../filter/values.js'
import { ANY_VALUE, valueLine } from './chunks.js'
import { type FindLists, placesOf } from './find-grams.js'
import { ExtraList } from './grams.js'
import {
  indexedValue,
  type FetchedPart,
  Kind,
  kindOf,
  type LineSearch,
  type Order,
  type ValueEntry,
} from './part.js'
import { partialEvents } from './partial-events.js'
import { EMPTY, type FetchedPostings, NONE } from './postings.js'
import { indexOfLine, isPiece, type Piece, readPiece, readValues } from './read-chunks.js'
import {
  type ChunkPostings,
  chunkPostings,
  joinedPostings,
  sharedPostings,
} from './segment-postings.js'
import {
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
import {
  readAll,
  readOne,
  ready,
  type Stream,
  together,
  WAIT,
  type Wait,
  type Work,
} from './work.js'

/** Reads a segment lazily: one read for a value, and one for each further piece of its list. */
export function openSegment<Lists extends object>(
  source: SegmentSource<Lists>,
  info: SegmentInfo,
): FetchedPart {
  const { id, size, first, last, isPartial } = info
  const { chunks: reader, listsOf } = source
  const { timeOf, countBefore } = segmentTimes(source, info)
  const knownPartial = new Map<string, FetchedPostings>()

  const find = (lists: Lists | undefined | Wait, value: Scalar): FetchedPostings | Wait =>
    lists ? inChunk(reader, lists, value) : notFound(lists)

  const listOf = (name: string | number | undefined, kind: number): FetchedPostings | Wait =>
    find(listsOf(name, kind), ANY_VALUE)
  const partialOf = (name: string): FetchedPostings | Wait =>
    partialEvents(name, {
      own: () => listOf(name, ListKind.partial),
      hashed: (hash) => find(listsOf(undefined, ListKind.otherNames), hash),
      others: () => listOf(undefined, ListKind.others),
      // A column without any list counts as missing.
      hasColumn() {
        const kinds = [ListKind.valued, ListKind.containers, ListKind.partial]
        const lists = ready(kinds.map((kind) => listOf(name, kind)))
        return lists && lists.some(({ size }) => size > 0)
      },
    })

  return {
    id: String(id),
    size,
    first,
    last,
    timeOf,
    countBefore,
    values: (name, kind, order, from) =>
      withLists(listsOf, [name, kind], (lists) => valuesOf(reader, lists, order, from)),
    ...(reader.whole && {
      all: (name: string, kind: Kind) =>
        withLists(listsOf, [name, kind], (lists) => wholeEntries(reader.whole!(lists))),
    }),
    search: (name, kind, search) => searchList(source, [name, kind], search),
    texts: (search) => searchNames(source, search),
    sources: (search) => searchList(source, [undefined, Kind.text], search),
    partialTexts: () => (isPartial ? listOf(undefined, ListKind.partialTexts) : EMPTY),
    find: (name, value) => find(listsOf(name, kindOf(value)), positiveZero(indexedValue(value))),
    valued: (name) => listOf(name, ListKind.valued),
    containers: (name) => listOf(name, ListKind.containers),
    partial(name) {
      if (!isPartial) return EMPTY
      let found = knownPartial.get(name)
      if (!found) {
        const lists = partialOf(name)
        if (lists === WAIT) return WAIT
        found = lists
        if (knownPartial.size >= MAX_KNOWN_PARTIAL) knownPartial.clear()
        knownPartial.set(name, found)
      }
      return found
    },
  }
}

/** Maximum number of names for which a segment keeps the events that may match any filter. */
const MAX_KNOWN_PARTIAL = 64

type Entries = Generator<ValueEntry | Wait | undefined, void, undefined>

type ListsOf<Lists> = SegmentSource<Lists>['listsOf']

const notFound = (lists: undefined | Wait): FetchedPostings | Wait =>
  lists === WAIT ? WAIT : EMPTY

type Name = readonly [name: string | number | undefined, kind: number]

/** The entries of the lists of a name; none if there are no lists. */
function withLists<Lists extends object>(
  listsOf: ListsOf<Lists>,
  [name, kind]: Name,
  entries: (lists: Lists) => Entries,
): Stream<ValueEntry> {
  const lists = listsOf(name, kind)
  if (lists) return entries(lists)
  return lists === WAIT ? afterWait(() => withLists(listsOf, [name, kind], entries)) : []
}

function* afterWait(read: () => Stream<ValueEntry>): Entries {
  yield WAIT
  yield* read()
}

/** The postings of the value. */
function inChunk<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  value: Scalar,
): FetchedPostings | Wait {
  const chunk = reader.floor(lists, keyOf(value))
  if (!chunk) return notFound(chunk)
  const index = indexOfLine(chunk[2], valueLine(value))
  return index < 0 ? EMPTY : chunkPostings(reader, lists, chunk, true).postings(index)
}

const findLists =
  <Lists>(reader: ChunkReader<Lists>, grams: Lists): FindLists =>
  (values) =>
    ready(values.map((value) => inChunk(reader, grams, value)))

/** Searches the texts of all names, except names that the grams exclude. */
function* searchNames<Lists extends object>(
  source: SegmentSource<Lists>,
  search: LineSearch,
): Entries {
  const { chunks: reader, listsOf } = source
  const grams = (yield* readOne(() => listsOf(undefined, ListKind.grams)))!
  const find = findLists(reader, grams)
  const [all] = yield* readOne(() => find([ExtraList.names]))
  const found = yield* readOne(() => placesOf(search.part, find))
  const ranges = found ?? [{ from: 0, to: Infinity }]
  const searches: (() => Entries)[] = []
  const next = (at: number): Work<number> => readOne(() => all!.seek(at, 1))
  let place = 0
  for (let name = yield* next(0); name !== NONE; name = yield* next(name + 1), place++) {
    const number = name
    if (ranges.some(({ from, to }) => place >= from && place < to))
      searches.push(() => searchList(source, [number, Kind.text], search))
  }
  yield* together(searches)
}

/** Reads the chunks that the grams do not exclude. A list without a name has no grams. */
function* searchList<Lists extends object>(
  { chunks: reader, listsOf }: SegmentSource<Lists>,
  [name, kind]: Name,
  { part, mayPass }: LineSearch,
): Entries {
  const hasGrams = kind === Kind.text && name !== undefined
  const [lists, grams] = yield* readAll([
    () => listsOf(name, kind),
    () => (hasGrams ? listsOf(name, ListKind.grams) : undefined),
  ])
  if (!lists) return
  const places = grams && (yield* readOne(() => placesOf(part, findLists(reader, grams))))
  yield* searchPlaces(reader, lists, places, mayPass)
}

/** Reads the chunks in bulk. Reads a list in pieces from its first piece. */
function* searchPlaces<Lists>(
  reader: ChunkReader<Lists>,
  lists: Lists,
  places: readonly PlaceRange[] | undefined,
  mayPass: LineSearch['mayPass'],
): Entries {
  let before: string | undefined
  for (const chunks of reader.inBulk(lists, places)) {
    for (const { id, lines, postings } of chunks ?? []) {
      if (lines !== before && mayPass(lines)) {
        const first = readValues(lines.slice(0, (lines.indexOf('\n') + 1 || Infinity) - 1))[0]!
        const data = postings ?? reader.postingsOf!(id)
        yield* entriesOf(reader, lists, [keyOf(first), 0, lines, data], { isRising: true })
      }
      before = lines
    }
    yield chunks === WAIT ? WAIT : undefined
  }
}

/** The values of whole chunks. A list in pieces has several chunks. */
function* wholeEntries(bulks: Iterable<readonly WholeChunk[] | Wait>): Entries {
  let line: string | undefined
  let pieces: Piece[] = []
  for (const chunks of bulks) {
    if (chunks === WAIT) yield WAIT
    for (const { lines, postings } of chunks ?? []) {
      if (lines === line) {
        pieces.push(readPiece(postings))
        continue
      }
      if (line !== undefined) yield pieceEntry(line, pieces)
      line = isPiece(postings) ? lines : undefined
      if (line === undefined) yield* sharedEntries(lines, postings)
      else pieces = [readPiece(postings)]
    }
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
): Entries {
  const isRising = order === 'asc'
  const passes = from === undefined ? undefined : boundOf(from, isRising)
  const start = from === undefined ? undefined : startKey(from, isRising)
  for (const chunk of reader.walk(lists, order, start)) {
    if (chunk === WAIT) yield WAIT
    else yield* entriesOf(reader, lists, chunk, { isRising, passes })
  }
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

  postings(): FetchedPostings {
    return this.#chunks().postings(this.#index)
  }
}

import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { openSegment } from '../../../src/store-kit/index/segment.js'
import {
  type ChunkLines,
  type ChunkReader,
  type ChunkValues,
  type Key,
  keyOf as keyOfValue,
  UNNAMED_LISTS,
  type PlaceRange,
} from '../../../src/store-kit/index/segment-source.js'
import { readValues } from '../../../src/store-kit/index/read-chunks.js'
import { keyBytes } from './segment-keys.js'
import { type ChunkRow, keyOf, type Lists, type Request } from './chunk-requests.js'
import { after, before, END, type Place, START } from './known-chunks.js'
import { CACHE_MISS, type ChunkLoader } from './chunk-loader.js'
import type { PostgresSegmentRow } from './index-state.js'

/** Chunks that a search fetches at once. */
const BULK = 64
/** Such fetches that the searches of one part prepare together. */
const PREPARED = 16

const ALL: readonly PlaceRange[] = [{ from: 0, to: Infinity }]

const hexOf = (key: Key): string => keyBytes(key).toString('hex')

function known<Found>(found: Found | 'unknown'): Found {
  if (found === 'unknown') throw CACHE_MISS
  return found
}

/** The numbers of the first and the last chunk of some lists. */
type Ends = readonly [first: number, last: number] | 'none'

interface BulkRange {
  readonly lists: Lists
  readonly places: readonly PlaceRange[]
  readonly endsOf: () => Ends
}

type BulkRequest = Extract<Request, { readonly by: 'numbers' }>

function* bulkRequests(
  lists: Lists,
  places: readonly PlaceRange[],
  ends: Ends,
): Generator<BulkRequest, void> {
  if (ends === 'none') return
  for (const { from, to } of places) {
    const last = Math.min(ends[0] + to - 1, ends[1])
    for (let next = ends[0] + from; next <= last; next += BULK)
      yield { by: 'numbers', lists, from: next, to: Math.min(next + BULK - 1, last) }
  }
}

/** Yields an empty list while chunks have to be fetched, instead of throwing, so that the search can go on. */
function* readBulk(
  loader: ChunkLoader,
  batch: Map<number, ChunkRow>,
  { lists, places, endsOf }: BulkRange,
): Generator<readonly ChunkLines[], void> {
  for (const request of bulkRequests(lists, places, endsOf())) {
    const key = keyOf(request)
    while (!loader.bulk.has(key)) {
      loader.note(request)
      yield []
    }
    const rows = loader.bulk.get(key)!
    loader.bulk.delete(key)
    batch.clear()
    for (const row of rows) batch.set(row.number, row)
    yield rows.map(({ number, vals }) => ({ id: number, lines: vals }))
  }
}

/** The results of the reads, after all of them were tried; throws {@link CACHE_MISS} if one is missing. */
function together<Result>(reads: readonly (() => Result)[]): readonly Result[] {
  const results: Result[] = []
  for (const read of reads) {
    try {
      results.push(read())
    } catch (error) {
      if (error !== CACHE_MISS) throw error
    }
  }
  if (results.length < reads.length) throw CACHE_MISS
  return results
}

/** Reads chunks that have been fetched; throws {@link CACHE_MISS} for others. */
function createChunkReader(loader: ChunkLoader): ChunkReader<Lists> {
  const batch = new Map<number, ChunkRow>()

  const tryDown = (
    lists: Lists,
    place: Place,
    max: () => number,
  ): ChunkValues | undefined | 'unknown' => {
    const found = loader.known(lists).down(place)
    if (found === 'unknown') loader.note({ by: 'down', lists, place, max: max() })
    return found
  }
  const down = (lists: Lists, place: Place, max: () => number): ChunkValues | undefined =>
    known(tryDown(lists, place, max))
  const up = (lists: Lists, place: Place, max: () => number): ChunkValues | undefined => {
    const found = loader.known(lists).up(place)
    if (found === 'unknown') loader.note({ by: 'up', lists, place, max: max() })
    return known(found)
  }
  const one = (): number => 1

  const piecesOf = (lists: Lists, key: Key): readonly ChunkValues[] => {
    const first = hexOf(key)
    const found = loader.known(lists).pieces(first)
    if (found === 'unknown') loader.note({ by: 'pieces', lists, first })
    return known(found)
  }

  const endsOf = (lists: Lists): Ends => {
    const { ends } = loader.known(lists)
    if (!ends) loader.note({ by: 'ends', lists })
    return known(ends ?? 'unknown')
  }

  return {
    inBulk: (lists, places = ALL) =>
      readBulk(loader, batch, { lists, places, endsOf: () => endsOf(lists) }),
    together,
    prepare(searches) {
      const ends = together(
        searches.map(
          ({ lists }) =>
            () =>
              endsOf(lists),
        ),
      )
      let left = PREPARED
      for (const [i, { lists, places = ALL }] of searches.entries())
        for (const request of bulkRequests(lists, places, ends[i]!)) {
          if (left-- === 0) return
          if (!loader.bulk.has(keyOf(request))) loader.note(request)
        }
    },
    at(id, lines) {
      const { posts } = batch.get(id)!
      const [first] = readValues(lines.slice(0, (lines.indexOf('\n') + 1 || Infinity) - 1))
      return [keyOfValue(first!), 0, lines, posts]
    },
    floor: (lists, key) => down(lists, after(hexOf(key)), one),
    floors: (lists, keys) =>
      keys.map((key) => tryDown(lists, after(hexOf(key)), one)).map((found) => known(found)),
    before: (lists, key) => down(lists, before(hexOf(key)), () => loader.ahead(lists, 'down')),
    after: (lists, key) => up(lists, after(hexOf(key)), () => loader.ahead(lists, 'up')),
    first: (lists) => up(lists, START, () => loader.atEnd),
    last: (lists) => down(lists, END, () => loader.atEnd),
    pieceAt: (lists, key, ordinal) =>
      piecesOf(lists, key).findLast(([, first]) => first <= ordinal),
    pieceAfter: (lists, key, ordinal) => piecesOf(lists, key).find(([, first]) => first > ordinal),
  }
}

/** Reads a segment from fetched chunks; throws {@link CACHE_MISS} for others. */
export function readSegment(loader: ChunkLoader, row: PostgresSegmentRow): IndexPart {
  const { id: segment } = row
  const source = {
    chunks: createChunkReader(loader),
    listsOf(name: string | number = UNNAMED_LISTS, kind: number) {
      const number = typeof name === 'number' ? name : loader.numberOf(name, row)
      return number === undefined ? undefined : { segment, name: number, kind }
    },
    timesOf: (block: number) => loader.times(segment, block),
    firstTimeOf: (block: number) => loader.firsts(row)[block]!,
  }
  return openSegment(source, row)
}

import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import type { FetchedPart, Order } from '../../../src/store-kit/index/part.js'
import { openSegment } from '../../../src/store-kit/index/segment.js'
import {
  type ChunkLines,
  type ChunkReader,
  type ChunkValues,
  type Key,
  UNNAMED_LISTS,
  type PlaceRange,
  type WholeChunk,
} from '../../../src/store-kit/index/segment-source.js'
import { readOne, WAIT, type Wait } from '../../../src/store-kit/index/work.js'
import {
  after,
  before,
  END,
  type Lists,
  type Place,
  type Request,
  START,
} from './chunk-requests.js'
import type { ChunkLoader } from './chunk-loader.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import type { SummedChunk } from './checksums.js'
import { hexOf } from './known-floors.js'

/** Chunks that a search fetches at once. */
const BULK = 64
/** Such fetches that the searches of one part request together. */
const MAX_AHEAD = 16

/** A walk fetches one chunk first, and then each time this many times as many as before, up to a maximum. */
const GROWTH = 4
const MAX_RUN = 4096
/** Chunks that a read of whole lists fetches at once: a megabyte. */
const WHOLE = 256

const ALL: readonly PlaceRange[] = [{ from: 0, to: Infinity }]

type BulkRequest = Extract<Request, { readonly by: 'numbers' }>

function* bulkRequests(
  lists: Lists,
  places: readonly PlaceRange[],
  [start, end]: readonly [first: number, last: number],
): Generator<BulkRequest, void> {
  for (const { from, to } of places) {
    const last = Math.min(start + to - 1, end)
    for (let next = start + from; next <= last; next += BULK)
      yield { by: 'numbers', lists, from: next, to: Math.min(next + BULK - 1, last) }
  }
}

/** The bulk fetches of a segment. */
interface BulkFetches {
  readonly loader: ChunkLoader
  /** Number of fetches that were requested and whose chunks were not read yet. */
  ahead: number
}

function* readBulk(
  fetches: BulkFetches,
  lists: Lists,
  places: readonly PlaceRange[],
): Generator<readonly ChunkLines[] | Wait, void, undefined> {
  const { loader } = fetches
  const [start, end] = yield* readOne(() => loader.read({ by: 'ends', lists }))
  if (start === undefined) return
  const requests = [...bulkRequests(lists, places, [start, end!])]
  let requested = 0
  let read = 0
  try {
    for (const request of requests) {
      let rows: readonly SummedChunk[] | Wait = WAIT
      while (rows === WAIT) {
        for (; requested < requests.length && fetches.ahead < MAX_AHEAD; fetches.ahead++)
          loader.read(requests[requested++]!)
        if (requested > read) rows = loader.take(request)
        if (rows === WAIT) yield WAIT
      }
      read += 1
      fetches.ahead -= 1
      yield rows.map(({ number, values, postings }) => ({ id: number, lines: values, postings }))
    }
  } finally {
    fetches.ahead -= requested - read
  }
}

function* walk(
  loader: ChunkLoader,
  lists: Lists,
  order: Order,
  from: Key | undefined,
): Generator<ChunkValues | Wait, void, undefined> {
  const isRising = order === 'asc'
  const start =
    from === undefined ? undefined : yield* readOne(() => loader.floor(lists, hexOf(from)))
  if (start) yield start
  else if (from !== undefined && !isRising) return
  for (let last = start, max = start ? GROWTH : 1; ; max = Math.min(max * GROWTH, MAX_RUN)) {
    const place = placeBeside(last?.[0], isRising)
    const request = { lists, place, max }
    const { chunks, isEnd } = yield* readOne(() =>
      loader.read(isRising ? { by: 'up', ...request } : { by: 'down', ...request }),
    )
    for (const chunk of chunks) {
      if (chunk[0] !== last?.[0]) yield chunk
      last = chunk
    }
    if (isEnd) return
  }
}

function placeBeside(key: Key | undefined, isRising: boolean): Place {
  if (key === undefined) return isRising ? START : END
  return isRising ? after(hexOf(key)) : before(hexOf(key))
}

function* wholeChunks(
  loader: ChunkLoader,
  lists: Lists,
): Generator<readonly WholeChunk[] | Wait, void, undefined> {
  for (let place = START; ;) {
    const request = { by: 'up', lists, place, max: WHOLE } as const
    const { chunks, isEnd } = yield* readOne(() => loader.read(request))
    yield chunks.map(([, , lines, postings]) => ({ lines, postings }))
    if (isEnd) return
    const [first, ordinal] = chunks.at(-1)!
    place = { first: hexOf(first), ordinal }
  }
}

/** Reads chunks that have been fetched; waits for others. */
function createChunkReader(loader: ChunkLoader): ChunkReader<Lists> {
  const fetches = { loader, ahead: 0 }
  const piecesOf = (lists: Lists, key: Key): readonly ChunkValues[] | Wait =>
    loader.read({ by: 'pieces', lists, first: hexOf(key) })
  return {
    inBulk: (lists, places = ALL) => readBulk(fetches, lists, places),
    whole: (lists) => wholeChunks(loader, lists),
    floor: (lists, key) => loader.floor(lists, hexOf(key)),
    walk: (lists, order, from) => walk(loader, lists, order, from),
    pieceAt(lists, key, ordinal) {
      const pieces = piecesOf(lists, key)
      return pieces && pieces.findLast(([, first]) => first <= ordinal)
    },
    pieceAfter(lists, key, ordinal) {
      const pieces = piecesOf(lists, key)
      return pieces && pieces.find(([, first]) => first > ordinal)
    },
  }
}

/** Reads a segment from chunks that have been fetched; waits for others. */
export function readSegment(loader: ChunkLoader, row: SegmentRow): FetchedPart {
  const { id: segment } = row
  const blocks = Math.ceil(row.size / TIMES_PER_BLOCK)
  const source = {
    chunks: createChunkReader(loader),
    listsOf(name: string | number = UNNAMED_LISTS, kind: number) {
      const number = typeof name === 'number' ? name : loader.numberOf(name, row)
      return typeof number === 'number' ? { segment, name: number, kind } : number
    },
    timesOf: (block: number) => loader.read({ by: 'times', segment, block }),
    firstTimeOf(block: number) {
      const firsts = loader.read({ by: 'firsts', segment, blocks, digest: row.starts })
      return firsts && firsts[block]!
    },
  }
  return openSegment(source, row)
}

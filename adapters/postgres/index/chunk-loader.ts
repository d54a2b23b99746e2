import type { ChunkValues, Key } from '../../../src/store-kit/index/segment-source.js'
import { Kind } from '../../../src/store-kit/index/part.js'
import { decodeTimes } from '../../../src/store-kit/index/time-blocks.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import type { Names } from '../schema/names.js'
import { numberOfKey } from './segment-keys.js'
import { type ChunkCache, listsKey } from './chunk-cache.js'
import {
  type ChunkRow,
  keyOf,
  type Lists,
  readChunkRow,
  type Request,
  requestStatement,
} from './chunk-requests.js'
import { before, behind, END, type KnownChunks, type PlacedChunk, START } from './known-chunks.js'

/** Thrown by work on the index where something has to be fetched before it can be done. */
export const MISSING = new Error('a part of the index is not there yet')

/** Thrown where a query would take more of the index into memory than is worth it. */
export const TOO_MUCH = new Error('too much of the index would be read')

// What one query may hold of the index at a time.
const MOST_BYTES = 64 * 2 ** 20
// Chunks of one statement.
const MOST_CHUNKS = 4096
// Who goes from chunk to chunk gets the more at once the further he goes.
const GROWTH = 4

/**
 * What one query reads of the index, in its snapshot. What is not there is noted, and then all that has been
 * noted is fetched at once. What was fetched stays until the query is done: others may drop it from the cache.
 */
export interface Reading {
  /** What is known of the lists' chunks. */
  known(lists: Lists): KnownChunks
  numberOf(name: string): number | undefined
  times(segment: number, block: number): readonly Microseconds[]
  firsts(segment: number, blocks: number): Float64Array
  /** Has it fetched with what else is missing. */
  note(request: Request): void
  /** How many chunks to ask for of those who go on in a direction. */
  ahead(lists: Lists, direction: 'up' | 'down'): number
  /** Of chunks by their numbers, once they have been fetched. */
  readonly bulk: Map<string, readonly ChunkRow[]>
  /** How many requests have been noted, in all. */
  readonly noted: number
  /** False where nothing is missing. */
  fetch(): Promise<boolean>
  /** Lets go of what is not in the cache. */
  release(): void
}

export interface ReadingOptions {
  readonly names: Names
  readonly cache: ChunkCache
  /** The state of the index in the snapshot. */
  readonly version: number
  readonly ask: Ask
  /** Told how many pieces of the index have been read. */
  readonly onRead?: ((pieces: number) => void) | undefined
}

export const bulkKey = (segment: number, from: number, to: number): string =>
  `${segment} ${from} ${to}`

const keyOfBytes = (kind: number, first: string): Key => {
  const bytes = Buffer.from(first, 'hex')
  return kind === Kind.text ? bytes.toString() : numberOfKey(bytes)
}

function placedChunk(kind: number, row: ChunkRow): PlacedChunk {
  const chunk: ChunkValues = [keyOfBytes(kind, row.first), row.number, row.vals, row.posts]
  return { first: row.first, ordinal: row.number, chunk }
}

function readFirsts(posts: string | null): Float64Array {
  const bytes = Buffer.from(posts ?? '', 'base64')
  const times = new Float64Array(bytes.length / 8)
  for (const i of times.keys()) times[i] = numberOfKey(bytes.subarray(i * 8, i * 8 + 8))
  return times
}

export function createReading({ names, cache, version, ask, onRead }: ReadingOptions): Reading {
  let held = new Map<string, KnownChunks>()
  let times = new Map<string, readonly Microseconds[]>()
  let firsts = new Map<number, Float64Array>()
  const numbers = new Map<string, number | undefined>()
  const bulk = new Map<string, readonly ChunkRow[]>()
  let steps = new Map<string, number>()
  let missing = new Map<string, Request>()
  let [noted, bytes] = [0, 0]

  const note = (request: Request): void => {
    noted += 1
    missing.set(keyOf(request), request)
  }
  const want = (request: Request): never => {
    note(request)
    throw MISSING
  }
  const known = (lists: Lists): KnownChunks => {
    const key = listsKey(lists)
    let found = held.get(key)
    if (!found) held.set(key, (found = cache.known(lists)))
    return found
  }

  const learnChunks = (
    request: Extract<Request, { lists: Lists }>,
    rows: readonly TextRow[],
  ): void => {
    const { by, lists } = request
    const found = known(lists)
    const size = found.bytes
    if (by === 'ends') {
      const [, , first, last] = rows[0]!
      found.ends = first === null ? 'none' : [Number(first), Number(last)]
    } else {
      const chunks = rows.map((row) => placedChunk(lists.kind, readChunkRow(row)))
      if (by === 'pieces') found.learn(before(request.first), chunks, behind(request.first))
      else {
        const isAll = chunks.length < request.most
        if (by === 'up') found.learn(request.place, chunks, isAll ? END : chunks.at(-1)!)
        else found.learn(isAll ? START : chunks.at(-1)!, chunks.toReversed(), request.place)
      }
    }
    bytes += found.bytes - size
    cache.keep(lists, found)
  }

  const learn = (request: Request, rows: readonly TextRow[]): void => {
    switch (request.by) {
      case 'name': {
        const number = rows[0] && Number(rows[0][2])
        numbers.set(request.name, number)
        cache.keepName(request.name, version, number)
        break
      }
      case 'times': {
        const [row] = rows.map(readChunkRow)
        const first = numberOfKey(Buffer.from(row!.first, 'hex'))
        const block = decodeTimes(first, row!.posts)
        times.set(keyOf(request), block)
        cache.keepTimes(request.segment, request.block, block)
        break
      }
      case 'firsts': {
        const values = readFirsts(rows[0]![4]!)
        firsts.set(request.segment, values)
        cache.keepFirsts(request.segment, values)
        break
      }
      case 'numbers':
        bulk.set(bulkKey(request.segment, request.from, request.to), rows.map(readChunkRow))
        break
      default:
        learnChunks(request, rows)
    }
  }

  return {
    known,
    note,
    bulk,
    get noted() {
      return noted
    },
    numberOf(name) {
      if (numbers.has(name)) return numbers.get(name)
      const number = cache.name(name, version)
      if (number === 'unknown') return want({ by: 'name', name })
      numbers.set(name, number)
      return number
    },
    times(segment, block) {
      const request: Request = { by: 'times', segment, block }
      const found = times.get(keyOf(request)) ?? cache.times(segment, block)
      return found ?? want(request)
    },
    firsts(segment, blocks) {
      const found = firsts.get(segment) ?? cache.firsts(segment)
      return found ?? want({ by: 'firsts', segment, blocks })
    },
    ahead(lists, direction) {
      const key = `${listsKey(lists)} ${direction}`
      const most = (steps.get(key) ?? 1) * GROWTH
      steps.set(key, Math.min(most, MOST_CHUNKS))
      return most
    },
    async fetch() {
      if (missing.size === 0) return false
      const requests = [...missing.values()]
      missing = new Map()
      limit(requests)
      const { text, params } = requestStatement(names, requests)
      const found: TextRow[][] = requests.map(() => [])
      for (const row of await ask(text, ...params)) found[Number(row[0])]!.push(row)
      for (const [i, rows] of found.entries()) {
        onRead?.(rows.length)
        learn(requests[i]!, rows)
      }
      if (bytes > MOST_BYTES) throw TOO_MUCH
      return true
    },
    release() {
      held = new Map()
      times = new Map()
      firsts = new Map()
      steps = new Map()
      bytes = 0
    },
  }
}

/** So many chunks are asked for in all that a statement's answer is not too much for memory. */
function limit(requests: readonly Request[]): void {
  const runs = requests.flatMap((request) =>
    request.by === 'up' || request.by === 'down' ? [request] : [],
  )
  const sum = runs.reduce((sum, { most }) => sum + most, 0)
  if (sum <= MOST_CHUNKS) return
  for (const run of runs) run.most = Math.max(1, Math.floor((run.most * MOST_CHUNKS) / sum))
}

import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import { damagedNames, type FoundChunk } from '../../../src/store-kit/index/segment-source.js'
import { WAIT, type Wait } from '../../../src/store-kit/index/work.js'
import { READ_LIMIT_EXCEEDED } from '../../../src/store-kit/planning/session.js'
import type { Names } from '../schema/names.js'
import { type Answers, bytesOf, READERS, type Run } from './answers.js'
import type { Answer, ChunkCache } from './chunk-cache.js'
import { after, keyOf, type Lists, type Request, requestStatement } from './chunk-requests.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { createKnownFloors, type KnownFloors } from './known-floors.js'

/** Chunks that one query may hold at a time. */
const MAX_BYTES = 64 * 2 ** 20
/** Chunks that one statement may fetch. */
const MAX_CHUNKS = 4096
type RequestOf<By> = Extract<Request, { readonly by: By }>

/**
 * Reads the index for one query, in its snapshot. A read that returns `WAIT` has noted a request; one statement fetches
 * all that were noted. Answers stay until the query ends, even if the cache drops them.
 */
export interface ChunkLoader {
  read<By extends keyof Answers>(request: RequestOf<By>): Answers[By] | Wait
  /** The floor of the key, whose bytes are given in hexadecimal. */
  floor(lists: Lists, key: string): FoundChunk
  /** As `read`, and drops the answer. */
  take(request: RequestOf<'numbers'>): Answers['numbers'] | Wait
  /** The number that a name has in the segment; `undefined` if it has none. */
  numberOf(name: string, segment: Pick<SegmentRow, 'id' | 'names'>): number | undefined | Wait
  /** Runs the noted requests. */
  fetch(): Promise<void>
  /** Drops the answers that only this query holds. */
  release(): void
}

export interface ChunkLoaderOptions {
  readonly names: Names
  readonly cache: ChunkCache
  readonly ask: Ask
  /** Called with the number of rows that were fetched. */
  readonly onRead?: ((rows: number) => void) | undefined
}

export function createChunkLoader({ names, cache, ask, onRead }: ChunkLoaderOptions): ChunkLoader {
  let held = new Map<string, Answer>()
  let bytes = 0
  let missing = new Map<string, Request>()

  const wait = (request: Request): Wait => {
    missing.set(keyOf(request), request)
    return WAIT
  }
  const find = (key: string): Answer | undefined => {
    let found = held.get(key)
    if (!found && (found = cache.get(key))) held.set(key, found)
    return found
  }
  const keep = (key: string, answer: Answer, size: number): void => {
    held.set(key, answer)
    cache.keep(key, answer, size)
  }
  const floorsOf = (lists: Lists): KnownFloors =>
    (find(floorsKey(lists)) as KnownFloors | undefined) ?? createKnownFloors()
  const add = (request: Request, rows: readonly TextRow[]): void => {
    if (request.by === 'names') return addNames(cache, request, rows)
    const key = keyOf(request)
    const answer = READERS[request.by](request as never, rows)
    if (request.by === 'numbers') {
      held.set(key, answer)
      return
    }
    const size = bytesOf(answer as Exclude<Answers[keyof Answers], Answers['numbers']>)
    keep(key, answer, size)
    bytes += size
    if (request.by !== 'down' && request.by !== 'up') return
    const floors = floorsOf(request.lists)
    floors.learn(request.by, request.place, answer as Run)
    keep(floorsKey(request.lists), floors, floors.bytes)
  }

  return {
    read: <By extends keyof Answers>(request: RequestOf<By>) =>
      (find(keyOf(request)) as Answers[By] | undefined) ?? wait(request),
    floor(lists, key) {
      const known = floorsOf(lists).find(key)
      return known === 'unknown' ? wait({ by: 'down', lists, place: after(key), max: 1 }) : known
    },
    take(request) {
      const key = keyOf(request)
      const found = held.get(key)
      held.delete(key)
      return found ? (found as Answers['numbers']) : wait(request)
    },
    numberOf(name, { id, names: last }) {
      const from = cache.names.last()
      return from < last
        ? wait({ by: 'names', segment: id, from })
        : cache.names.numberOf(name, last)
    },
    async fetch() {
      if (missing.size === 0) throw new Error('work on the index waits for no chunk')
      const requests = [...missing.values()]
      missing = new Map()
      limitChunks(requests)
      const { text, params } = requestStatement(names, requests)
      const found: TextRow[][] = requests.map(() => [])
      for (const row of await ask(text, ...params)) found[Number(row[0])]!.push(row)
      const slices = createTimeSlices()
      for (const [i, rows] of found.entries()) {
        onRead?.(rows.length)
        add(requests[i]!, rows)
        if (slices.isOver()) await slices.next()
      }
      if (bytes > MAX_BYTES) throw READ_LIMIT_EXCEEDED
    },
    release() {
      held = new Map()
      bytes = 0
    },
  }
}

function addNames(
  { names }: ChunkCache,
  { segment, from }: RequestOf<'names'>,
  rows: readonly TextRow[],
): void {
  names.add(rows.map(([, , , name, , number, sum]) => [Number(number), name!, Number(sum)]))
  if (names.last() <= from) throw damagedNames(segment)
}

const floorsKey = ({ segment, name, kind }: Lists): string => `floors ${segment} ${name} ${kind}`

/** Limits the number of chunks that one statement fetches. */
function limitChunks(requests: readonly Request[]): void {
  const runs = requests.flatMap((request) =>
    request.by === 'up' || request.by === 'down' ? [request] : [],
  )
  const sum = runs.reduce((sum, { max }) => sum + max, 0)
  if (sum <= MAX_CHUNKS) return
  for (const run of runs) run.max = Math.max(1, Math.floor((run.max * MAX_CHUNKS) / sum))
}

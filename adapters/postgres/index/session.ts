import { beyond, type TimeBounds } from '../../../src/filter/bounds.js'
import {
  findPostings,
  type TimesOf,
  type Work,
} from '../../../src/store-kit/index/find-postings.js'
import { type IndexFilter, isLookup } from '../../../src/store-kit/index/index-filter.js'
import type { IndexPart, Order } from '../../../src/store-kit/index/part.js'
import {
  overlaps,
  type PartPostings,
  timesOfSets,
} from '../../../src/store-kit/index/time-order.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import type { Coverage } from './server-index.js'
import { prefetch, prefetchTimes } from './prefetch.js'
import { createChunkLoader } from './chunk-loader.js'
import { readSegment } from './segment-reader.js'
import { createTaskRunner, type TaskRunner } from './task-runner.js'

/** Reads the index for one query, in its snapshot. */
export interface IndexSession {
  readonly coverage: Coverage
  readonly parts: readonly IndexPart[]
  readonly tasks: TaskRunner
  /** The events of these parts that may match; parts without any are left out. */
  find(parts: readonly IndexPart[]): Promise<PartPostings[]>
  /** The first times of the sets within the bounds, at most `max`. */
  timesOf(
    sets: readonly PartPostings[],
    order: Order,
    bounds: TimeBounds,
    max: number,
  ): Promise<readonly Microseconds[]>
  /** Drops chunks that were read for earlier tasks. */
  release(): void
}

export interface SessionOptions {
  readonly names: Names
  readonly snapshot: Pick<Snapshot, 'ask' | 'checkTime'>
  readonly coverage: Coverage
  /** Parts outside of them are left out. */
  readonly bounds: TimeBounds
  readonly filter: IndexFilter | undefined
  readonly timesOf: TimesOf
  /** Called with the number of parts that are searched, and of chunks that were read. */
  readonly onRead?: ((parts: number, chunks: number) => void) | undefined
  /** Number of chunks that a walk along the values fetches at once; by default few at first, and then more. */
  readonly chunksAtOnce?: number | undefined
}

export function openSession(options: SessionOptions): IndexSession {
  const { names, snapshot, coverage, bounds, filter, timesOf, onRead, chunksAtOnce } = options
  const { segments, recent, cache } = coverage
  const loader = createChunkLoader({
    names,
    cache,
    ask: snapshot.ask,
    onRead: onRead && ((chunks) => onRead(0, chunks)),
    chunksAtOnce,
  })
  const stored = new Set(segments.map((info) => readSegment(loader, info)))
  const tasks = createTaskRunner(loader, snapshot.checkTime)

  return {
    coverage,
    parts: [...stored, ...recent].filter((part) => overlaps(part, bounds)),
    tasks,
    release: () => loader.release(),
    async find(parts) {
      onRead?.(parts.length, 0)
      const found = await tasks.all(
        parts.map((part) => () => {
          if (stored.has(part)) prefetch(part, filter, timesOf)
          return findPostings(part, filter, timesOf)
        }),
      )
      return parts
        .map((part, i) => ({ part, postings: found[i]! }))
        .filter(({ postings }) => postings.size > 0)
    },
    timesOf(sets, order, bounds, max) {
      const sorted = sets
        .filter(({ part }) => overlaps(part, bounds))
        .toSorted((a, b) => compareStarts(a.part, b.part, order))
      return tasks.one(() => {
        prefetchTimes(sorted, order, bounds, max)
        return takeTimes(sorted, order, bounds, max)
      })
    },
  }
}

function* takeTimes(
  sets: readonly PartPostings[],
  order: Order,
  bounds: TimeBounds,
  max: number,
): Work<readonly Microseconds[]> {
  const times: Microseconds[] = []
  for (const time of timesOfSets(sets, order, bounds)) {
    if (time === undefined) yield
    else if (times.push(time) >= max) break
  }
  return times
}

// Number of parts, in the order of time, that are searched first; each further search takes more parts.
const FIRST_PARTS = { forLookups: 32, forSearches: 8 } as const
const PARTS_GROWTH = 4

/** Compares parts by the event that comes first in the given order. */
const compareStarts = (a: IndexPart, b: IndexPart, order: Order): number =>
  order === 'asc' ? a.first - b.first : b.last - a.last

export interface TimesRequest {
  readonly order: Order
  readonly bounds: TimeBounds
  readonly max: () => number
}

/**
 * The times of the events that may match, in order, at most `max()` at a time. A part is searched once the order has
 * reached its first event.
 */
export async function* timesInOrder(
  session: IndexSession,
  filter: IndexFilter | undefined,
  { order, bounds, max }: TimesRequest,
): AsyncGenerator<readonly Microseconds[]> {
  const waiting = session.parts
    .filter((part) => overlaps(part, bounds))
    .toSorted((a, b) => compareStarts(b, a, order))
  let ready: readonly PartPostings[] = []
  let rest = bounds
  const { forLookups, forSearches } = FIRST_PARTS
  for (let count = isLookup(filter) ? forLookups : forSearches; ; count *= PARTS_GROWTH) {
    ready = ready.concat(await session.find(waiting.splice(-count)))
    const next = waiting.at(-1)
    const isRising = order === 'asc'
    const end = next && (isRising ? next.first - 1 : next.last + 1)
    // The times before the first part that has not been searched.
    let range = {
      from: isRising || end === undefined ? rest.from : Math.max(end, rest.from),
      to: isRising && end !== undefined ? Math.min(end, rest.to) : rest.to,
    }
    while (range.from <= range.to) {
      const wanted = max()
      const times = await session.timesOf(ready, order, range, wanted)
      if (times.length > 0) yield times
      if (times.length < wanted) break
      range = beyond(range, times.at(-1)!, order)
    }
    session.release()
    if (end === undefined) return
    // The next part may begin before the place that the order has reached.
    const last = isRising ? Math.max(end, rest.from - 1) : Math.min(end, rest.to + 1)
    rest = beyond(rest, last, order)
    ready = ready.filter(({ part }) => overlaps(part, rest))
  }
}

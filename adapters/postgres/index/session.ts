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
import type { Snapshot } from '../log/reader.js'
import type { ChunkCache } from './chunk-cache.js'
import type { Coverage } from './log-index.js'
import { prefetch, prefetchTimes } from './prefetch.js'
import { createReading } from './chunk-loader.js'
import { readSegment } from './segment-reader.js'
import { createWorks, type Works } from './task-runner.js'

/** The index as one query reads it, in its snapshot. */
export interface IndexSession {
  readonly parts: readonly IndexPart[]
  readonly works: Works
  /** Of these parts what may match, where there is anything. */
  find(parts: readonly IndexPart[]): Promise<PartPostings[]>
  /** The first times of the sets within the bounds, so many in all. */
  timesOf(
    sets: readonly PartPostings[],
    order: Order,
    bounds: TimeBounds,
    most: number,
  ): Promise<readonly Microseconds[]>
  /** Lets go of what has been read for work that is done. */
  release(): void
}

export interface SessionOptions {
  readonly names: Names
  readonly snapshot: Pick<Snapshot, 'ask' | 'checkTime'>
  readonly cache: ChunkCache
  readonly coverage: Coverage
  /** Parts that have nothing within them are left out. */
  readonly bounds: TimeBounds
  readonly filter: IndexFilter | undefined
  readonly timesOf: TimesOf
  /** Told how many parts were looked into, and how many pieces of them read. */
  readonly onRead?: ((parts: number, pieces: number) => void) | undefined
}

export function openSession(options: SessionOptions): IndexSession {
  const { names, snapshot, cache, coverage, bounds, filter, timesOf, onRead } = options
  const { segments, recent, version } = coverage
  const reading = createReading({
    names,
    cache,
    version,
    ask: snapshot.ask,
    onRead: onRead && ((pieces) => onRead(0, pieces)),
  })
  const stored = new Set(segments.map((info) => readSegment(reading, info)))
  const works = createWorks(reading, snapshot.checkTime)

  return {
    parts: [...stored, ...recent].filter((part) => overlaps(part, bounds)),
    works,
    release: () => reading.release(),
    async find(parts) {
      onRead?.(parts.length, 0)
      const found = await works.all(
        parts.map((part) => () => {
          if (stored.has(part)) prefetch(part, filter, timesOf)
          return findPostings(part, filter, timesOf)
        }),
      )
      return parts
        .map((part, i) => ({ part, postings: found[i]! }))
        .filter(({ postings }) => postings.size > 0)
    },
    timesOf(sets, order, bounds, most) {
      const near = sets
        .filter(({ part }) => overlaps(part, bounds))
        .toSorted((a, b) => compareBegins(a.part, b.part, order))
      return works.one(() => {
        prefetchTimes(near, order, bounds, most)
        return takeTimes(near, order, bounds, most)
      })
    },
  }
}

function* takeTimes(
  sets: readonly PartPostings[],
  order: Order,
  bounds: TimeBounds,
  most: number,
): Work<readonly Microseconds[]> {
  const times: Microseconds[] = []
  for (const time of timesOfSets(sets, order, bounds)) {
    if (time === undefined) yield
    else if (times.push(time) >= most) break
  }
  return times
}

// Of the parts that are nearest so many are looked into first, then ever more.
const FIRST_PARTS = { ofLittleWork: 32, ofMore: 8 } as const
const PARTS_GROWTH = 4

/** By where they begin in the direction. */
const compareBegins = (a: IndexPart, b: IndexPart, order: Order): number =>
  order === 'asc' ? a.first - b.first : b.last - a.last

/**
 * The times of the events that may match in their order, some at a time. The parts are looked into when the order has come
 * to where they may have some.
 */
export async function* timesInOrder(
  session: IndexSession,
  filter: IndexFilter | undefined,
  order: Order,
  bounds: TimeBounds,
  most: () => number,
): AsyncGenerator<readonly Microseconds[]> {
  const waiting = session.parts
    .filter((part) => overlaps(part, bounds))
    .toSorted((a, b) => compareBegins(b, a, order))
  let ready: readonly PartPostings[] = []
  let rest = bounds
  const { ofLittleWork, ofMore } = FIRST_PARTS
  for (let count = isLookup(filter) ? ofLittleWork : ofMore; ; count *= PARTS_GROWTH) {
    ready = ready.concat(await session.find(waiting.splice(-count)))
    const next = waiting.at(-1)
    const isRising = order === 'asc'
    const end = next && (isRising ? next.first - 1 : next.last + 1)
    // What comes before the first that has not been looked into.
    let stretch = {
      from: isRising || end === undefined ? rest.from : Math.max(end, rest.from),
      to: isRising && end !== undefined ? Math.min(end, rest.to) : rest.to,
    }
    while (stretch.from <= stretch.to) {
      const wanted = most()
      const times = await session.timesOf(ready, order, stretch, wanted)
      if (times.length > 0) yield times
      if (times.length < wanted) break
      stretch = beyond(stretch, times.at(-1)!, order)
    }
    session.release()
    if (end === undefined) return
    // The next part may begin before where the order has come to.
    const last = isRising ? Math.max(end, rest.from - 1) : Math.min(end, rest.to + 1)
    rest = beyond(rest, last, order)
    ready = ready.filter(({ part }) => overlaps(part, rest))
  }
}

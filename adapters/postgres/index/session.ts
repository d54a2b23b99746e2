import type { TimeBounds } from '../../../src/filter/bounds.js'
import { findPostings, type TimesOf } from '../../../src/store-kit/index/find-postings.js'
import type { IndexFilter } from '../../../src/store-kit/index/index-filter.js'
import { overlaps } from '../../../src/store-kit/index/time-order.js'
import {
  compareStarts,
  type IndexSession,
  takeTimes,
} from '../../../src/store-kit/planning/session.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import type { Coverage } from './server-index.js'
import { prefetch, prefetchTimes } from './prefetch.js'
import { createChunkLoader } from './chunk-loader.js'
import { readSegment } from './segment-reader.js'
import { createTaskRunner } from './task-runner.js'

/** Reads the index for one query, in its snapshot. */
export interface PostgresSession extends IndexSession {
  readonly coverage: Coverage
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

export function openSession(options: SessionOptions): PostgresSession {
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

import type { TimeBounds } from '../../../src/filter/bounds.js'
import { findPostings, type TimesOf } from '../../../src/store-kit/index/find-postings.js'
import type { IndexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import { overlaps } from '../../../src/store-kit/index/time-order.js'
import { withRequests } from '../../../src/store-kit/index/work.js'
import {
  compareStarts,
  type IndexSession,
  takeTimes,
} from '../../../src/store-kit/planning/session.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import type { Coverage } from './server-index.js'
import { prefetchTimes } from './prefetch.js'
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
  /** Called for a segment that is found damaged. The read then throws `INDEX_CHANGED`. */
  readonly onDamaged: (damaged: DamagedSegment) => void
  /** Called with the number of parts that are searched, and of chunks that were read. */
  readonly onRead?: ((parts: number, chunks: number) => void) | undefined
}

export function openSession(options: SessionOptions): PostgresSession {
  const { names, snapshot, coverage, bounds, filter, timesOf, onDamaged, onRead } = options
  const { segments, recent, cache } = coverage
  const loader = createChunkLoader({
    names,
    cache,
    ask: snapshot.ask,
    onRead: onRead && ((chunks) => onRead(0, chunks)),
  })
  const stored = segments.map((info) => readSegment(loader, info))
  const tasks = createTaskRunner(loader, snapshot.checkTime, onDamaged)

  return {
    coverage,
    parts: [...stored, ...recent].filter((part) => overlaps(part, bounds)),
    tasks,
    release: () => loader.release(),
    async find(parts) {
      onRead?.(parts.length, 0)
      const found = await tasks.all(parts.map((part) => () => findPostings(part, filter, timesOf)))
      return parts
        .map((part, i) => ({ part, postings: found[i]! }))
        .filter(({ postings }) => postings.size > 0)
    },
    timesOf(sets, order, bounds, max) {
      const sorted = sets
        .filter(({ part }) => overlaps(part, bounds))
        .toSorted((a, b) => compareStarts(a.part, b.part, order))
      const request = (): void => prefetchTimes(sorted, order, bounds, max)
      return tasks.one(() => withRequests(takeTimes(sorted, order, bounds, max), request))
    },
  }
}

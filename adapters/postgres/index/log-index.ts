import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { SegmentInfo } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { type ChunkCache, createChunkCache } from './chunk-cache.js'
import { createFreshEvents } from './fresh-events.js'
import { createLateEvents } from './late-events.js'
import { createProbeHistory, type ProbeHistory } from './probe-history.js'
import { createRecentEvents, type Moment } from './recent-events.js'
import {
  readRefreshed,
  readSegmentInfo,
  type Refreshed,
  refreshStatement,
  selectVisibleSegments,
} from './refresh-statements.js'

/** The index of the events in one snapshot. */
export interface Coverage {
  readonly version: number
  readonly segments: readonly SegmentInfo[]
  /** Parts in memory, which do not change. */
  readonly recent: readonly IndexPart[]
  /** All events up to this time are in the parts, except open live events. */
  readonly to: Microseconds
}

/** The index of a log: segments in the database, and in memory the events that are in no segment yet. */
export interface LogIndex {
  readonly cache: ChunkCache
  readonly probeHistory: ProbeHistory
  /** The statement that `refresh` needs the rows of. */
  statement(): string
  /**
   * Adds what is new in the snapshot. `rows` are those of `statement` in the snapshot, if it was run already.
   * Returns `outdated` if a newer snapshot was added and events that this one needs are no longer in memory.
   */
  refresh(moment: Moment, rows?: readonly TextRow[]): Promise<Coverage | 'outdated'>
}

/** Maximum number of rows that one statement reads. */
const MAX_ROWS = 1000
/**
 * At most this many segments' worth of unsealed events is kept in memory, and no more than
 * `IndexBounds.unsealedBytes`. Queries check more one by one.
 */
const MAX_UNSEALED = 4

/** All snapshots must come from one server, or from replicas that never go back in time. */
export function createLogIndex(
  names: Names,
  { segmentSize, bounds = INDEX_BOUNDS }: Pick<SealingTuning, 'segmentSize' | 'bounds'>,
): LogIndex {
  const max = MAX_UNSEALED * segmentSize
  const slice = Math.min(MAX_ROWS, max)
  const recent = createRecentEvents(bounds)
  const fresh = createFreshEvents(names, recent, { slice, max })
  const late = createLateEvents(names, recent, { slice, max })
  let version = -1
  let segments: readonly SegmentInfo[] = []

  const setState = (next: Refreshed, visible: readonly SegmentInfo[]): void => {
    recent.startStage()
    version = next.version
    segments = visible
    fresh.dropUntil(next.sealedTo)
    late.drop()
  }

  const statement = (): string =>
    refreshStatement(names, slice, {
      stage: recent.stage(),
      maxFresh: recent.isFull() ? 1 : slice,
      // Without a known state no events can be added.
      last: version < 0 ? Number.MAX_SAFE_INTEGER : recent.index.last,
      ...late.known(),
    })

  const refresh = async (
    moment: Moment,
    rows?: readonly TextRow[],
  ): Promise<Coverage | 'outdated'> => {
    moment.checkTime()
    const given = rows && readRefreshed(rows)
    // After other additions, these rows would be added again.
    const isCurrent = given?.stage === recent.stage()
    let next = isCurrent ? given : readRefreshed(await moment.ask(statement()))
    if (next.version < version) return 'outdated'
    if (next.version > version) {
      setState(next, (await moment.ask(selectVisibleSegments(names))).map(readSegmentInfo))
      next = readRefreshed(await moment.ask(statement()))
    }
    if (!(await late.add(next, moment))) return { version, segments: [], recent: [], to: -1 }
    const isAll = await fresh.add(next.fresh, moment)
    const to = isAll ? Number.MAX_SAFE_INTEGER : recent.index.last
    return { version, segments, recent: recent.index.parts(), to }
  }

  let last: Promise<unknown> = Promise.resolve()
  return {
    cache: createChunkCache(),
    probeHistory: createProbeHistory(),
    statement,
    // One after another, as each continues where the one before has ended.
    async refresh(moment, rows) {
      const next = last.then(() => refresh(moment, rows))
      last = next.catch(() => {})
      return next
    },
  }
}

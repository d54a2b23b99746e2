import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import { type ChunkCache, createChunkCache } from './chunk-cache.js'
import { createFreshEvents } from './fresh-events.js'
import { readSegmentRow, type SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { selectSegments } from './index-state.js'
import { createLateEvents } from './late-events.js'
import {
  createRangeParts,
  type RangeParts,
} from '../../../src/store-kit/maintenance/range-parts.js'
import { numbered } from '../../../src/store-kit/sql.js'
import { dialectOf } from './dialect.js'
import { createRecentEvents, type Moment } from './recent-events.js'
import { readRefreshed, type Refreshed, refreshStatement } from './refresh-statements.js'
import type { SealedState } from './sealed-state.js'

/** The index of the events in one snapshot. */
export interface Coverage {
  readonly version: number
  /** The visible segments that can be read. */
  readonly segments: readonly SegmentRow[]
  /** Chunks that were read of the segments of this server. */
  readonly cache: ChunkCache
  /** Parts in memory, which do not change: of recent events, and of the time ranges of damaged segments. */
  readonly recent: readonly IndexPart[]
  /** Counts removed events like `IndexState`. */
  readonly removed: number
  /** See `IndexState`. */
  readonly removedBefore: Microseconds
  /** All events up to this time are in the parts, except open live events. */
  readonly to: Microseconds
  /** True if large recent events are not listed, so that SQL should test what the index finds. @default false */
  readonly hasUnlisted?: boolean
}

/** The part of a log's index that a process has read from one server. It never goes back in time. */
export interface ServerIndex {
  /** See `LogIndex`. */
  statement(isAhead?: boolean): string
  /**
   * Adds what is new in the snapshot that has `given`; rows of other servers and of earlier statements
   * are read again. One call at a time. Returns `outdated` if a newer snapshot was added and events that
   * this one needs are no longer in memory.
   */
  refresh(given: Refreshed, moment: Moment): Promise<Coverage | 'outdated'>
  /** See `LogIndex`. */
  sealed(state: SealedState): Coverage
  /** The segment with this id, of the last refresh or of what was `sealed` last. */
  segment(id: number): SegmentRow | undefined
}

export interface ServerIndexOptions {
  /** Returns a number that no addition on any server has had before. */
  readonly nextStage: () => number
  /** True if this process has found the segment damaged. */
  readonly isAside: (id: number) => boolean
  /** Called for each segment whose own row is damaged. */
  readonly onUntrusted: (row: SegmentRow) => void
}

export interface IndexTuning extends Pick<SealingTuning, 'segmentSize' | 'bounds'> {
  /** Memory for chunks; see `ChunkCache`. */
  readonly chunkBytes?: number | undefined
}

/** Maximum number of rows that one statement reads. */
const MAX_ROWS = 1000
/** The same for a statement whose rows may not be needed. */
const MAX_ROWS_AHEAD = 16
/**
 * At most this many segments' worth of unsealed events is kept in memory, and no more than
 * `IndexBounds.unsealedBytes`. Queries check more one by one.
 */
const MAX_UNSEALED = 4

/** Reads what is left of the ranges of these segments. */
async function readRanges(
  ranges: RangeParts,
  damaged: readonly SegmentRow[],
  { ask, checkTime }: Moment,
): Promise<readonly IndexPart[]> {
  ranges.update(damaged)
  for (let next = ranges.statement(); next; next = ranges.statement()) {
    checkTime()
    ranges.add(await ask(numbered(next), ...next.params))
  }
  return ranges.parts()
}

export function createServerIndex(
  names: Names,
  { segmentSize, bounds = INDEX_BOUNDS, chunkBytes }: IndexTuning,
  { nextStage, isAside, onUntrusted }: ServerIndexOptions,
): ServerIndex {
  const max = MAX_UNSEALED * segmentSize
  const slice = Math.min(MAX_ROWS, max)
  const recent = createRecentEvents(bounds, nextStage)
  const fresh = createFreshEvents(names, recent, { slice, max })
  const late = createLateEvents(names, recent, { slice, max })
  const cache = createChunkCache(chunkBytes)
  let version = -1
  let segments: readonly SegmentRow[] = []
  let sealed: Pick<SealedState, 'version' | 'segments'> = { version, segments }
  const ranges = createRangeParts(dialectOf(names))

  const isDamaged = (row: SegmentRow): boolean => row.isDamaged || isAside(row.id)

  const reportUntrusted = (rows: readonly SegmentRow[]): void => {
    for (const row of rows) if (!row.isTrusted) onUntrusted(row)
  }

  const setState = (next: Refreshed, visible: readonly SegmentRow[]): void => {
    recent.startStage()
    version = next.version
    segments = visible
    reportUntrusted(visible)
    fresh.dropUntil(next.sealedTo)
    late.drop()
  }

  const statement = (isAhead = false): string =>
    refreshStatement(names, slice, {
      stage: recent.stage(),
      maxFresh: recent.isFull() ? 1 : Math.min(slice, isAhead ? MAX_ROWS_AHEAD : slice),
      // Without a known state no events can be added.
      last: version < 0 ? Number.MAX_SAFE_INTEGER : recent.index.last,
      ...late.known(),
    })

  return {
    statement,
    async refresh(given, moment) {
      let next = given
      // After other additions, these rows would be added again. The version is enough for a first state.
      if (version >= 0 && next.stage !== recent.stage())
        next = readRefreshed(await moment.ask(statement()))
      if (next.version < version) return 'outdated'
      if (next.version > version) {
        setState(next, (await moment.ask(selectSegments(names))).map(readSegmentRow))
        next = readRefreshed(await moment.ask(statement()))
      }
      const { removed, removedBefore } = next
      const state = { version, cache, removed, removedBefore }
      if (!(await late.add(next, moment))) return { ...state, segments: [], recent: [], to: -1 }
      const isAll = await fresh.add(next, moment)
      const to = isAll ? Number.MAX_SAFE_INTEGER : recent.index.last
      // Filtered once: `await` lets other queries set segments aside, and such a segment must not be
      // missing from both lists.
      const damaged = segments.filter(isDamaged)
      const sound = segments.filter((row) => !damaged.includes(row))
      const inMemory = await recent.parts(moment.checkTime)
      const parts = [...inMemory, ...(await readRanges(ranges, damaged, moment))]
      const { hasUnlisted } = recent.listing
      return { ...state, segments: sound, recent: parts, to, hasUnlisted: hasUnlisted() }
    },
    sealed(state) {
      if (state.version > Math.max(version, sealed.version)) reportUntrusted(state.segments)
      sealed = state
      const sound = state.segments.filter((row) => !isDamaged(row))
      return { ...state, cache, segments: sound, recent: [], to: state.sealedTo }
    },
    segment: (wanted) => [...segments, ...sealed.segments].find(({ id }) => id === wanted),
  }
}

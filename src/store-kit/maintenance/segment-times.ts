import type { Microseconds } from '../../event/timestamp.js'
import { createCollectedTimes, type DescribedTimes } from '../index/collected-times.js'
import { TIMES_PER_BLOCK } from '../index/time-blocks.js'
import { sql } from '../sql.js'
import { loadState, type SegmentRow } from './index-rows.js'
import type { Dialect } from './dialect.js'
import type { IndexStore } from './index-store.js'
import type { Program } from './program.js'

/** Blocks of times that are read at once. */
const MAX_BLOCKS = 512

/** Times that one statement looks up. */
const MAX_TIMES = 4096

/**
 * The times of all events of a segment, ascending. `read` returns the blocks with the numbers from `from` to `end`, exclusive,
 * of which there are at most `max`. Throws `DamagedSegment` unless the times are those that were written.
 */
export async function collectTimes(
  segment: DescribedTimes,
  max: number,
  read: (from: number, end: number) => Promise<readonly (readonly Microseconds[])[]>,
): Promise<Float64Array> {
  const times = createCollectedTimes(segment)
  const count = Math.ceil(segment.size / TIMES_PER_BLOCK)
  for (let from = 0; from < count; from += max)
    for (const block of await read(from, Math.min(from + max, count))) times.add(block)
  return times.all()
}

/** Like {@link collectTimes}; the builder may rest meanwhile. */
export const readTimes = (
  { readBlocks, steps }: Pick<IndexStore, 'readBlocks' | 'steps'>,
  segment: DescribedTimes,
): Promise<Float64Array> =>
  collectTimes(segment, MAX_BLOCKS, async (from, end) => {
    const blocks = await readBlocks(segment.id, from, end)
    if (steps.isSliceOver()) await steps.pause()
    return blocks
  })

/** The times at which there is no event. A scalar subquery looks up each time in the index. */
export function* missingTimes(
  { tables, values, list }: Dialect,
  times: ArrayLike<Microseconds>,
): Program<readonly Microseconds[]> {
  const rows = yield sql(
    `SELECT value FROM ${values}
     WHERE (SELECT 1 FROM ${tables.events} WHERE created_at = value) IS NULL`,
    list(times),
  )
  return rows.map(([time]) => Number(time))
}

/** The events of some segments that still exist. */
export interface Presence {
  isPresent(time: Microseconds): boolean
  /** The count of removed events when the events were looked up. */
  readonly removed: number
}

/**
 * Finds out which events of the segments, which have these times, still exist. Looks up the events only if some were removed
 * since the segments were built.
 */
export async function checkPresence(
  { dialect, read }: IndexStore,
  segments: readonly SegmentRow[],
  times: readonly Float64Array[],
): Promise<Presence> {
  // Events that are removed later may be missing too, which the lower count allows for.
  const { removed, removedBefore } = await read(() => loadState(dialect))
  const changed = times.filter((_, i) => {
    const segment = segments[i]!
    return segment.removed !== removed || segment.first < removedBefore
  })
  const missing = new Set<Microseconds>()
  for (const all of changed)
    for (let from = 0; from < all.length; from += MAX_TIMES) {
      const some = all.subarray(from, from + MAX_TIMES)
      for (const time of await read(() => missingTimes(dialect, some))) missing.add(time)
    }
  return { isPresent: (time) => !missing.has(time), removed }
}

import type { Grouping } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { halfwayTo } from '../../../src/store-kit/index/counted-figures.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { PartPostings } from '../../../src/store-kit/index/time-order.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { timesOfIds } from './list-query.js'
import type { LogIndex } from '../index/log-index.js'
import { READ_LIMIT_EXCEEDED } from '../../../src/store-kit/planning/session.js'
import { openSession } from '../index/session.js'
import type { Names } from '../schema/names.js'
import type { Snapshot } from '../log/snapshot.js'
import { numbered } from './sql.js'

// Up to this number, counting events in one statement is faster than in parts.
export const MAX_COUNTED_AT_ONCE = 20_000
// Parts of the index that are searched together.
const PARTS = 8

interface CandidateRequest {
  readonly where: Grouping | undefined
  readonly bounds: TimeBounds
  readonly end: number
}

/**
 * The times of the events that may match, from the index. `undefined` if there are too many, if the index
 * cannot answer the filter, is damaged or does not cover the bounds, or if half of the time until `end` (as
 * `performance.now()` counts) is over.
 */
export async function candidateTimes(
  { ask, checkTime }: Snapshot,
  { index, names }: { readonly index: LogIndex; readonly names: Names },
  { where, bounds, end }: CandidateRequest,
): Promise<readonly Microseconds[] | undefined> {
  const filter = indexFilter(where)
  if (!filter) return undefined
  const latest = halfwayTo(end)
  const snapshot = {
    ask,
    checkTime() {
      checkTime()
      if (performance.now() > latest) throw READ_LIMIT_EXCEEDED
    },
  }
  try {
    const coverage = await index.refresh(snapshot)
    if (coverage === 'outdated' || coverage.to < bounds.to) return undefined
    const run = (query: Parameters<typeof numbered>[0]) => ask(numbered(query), ...query.params)
    const timesOf = await timesOfIds(run, names, filter)
    const session = openSession({ names, snapshot, coverage, bounds, filter, timesOf })
    const sets: PartPostings[] = []
    let count = 0
    for (let from = 0; from < session.parts.length; from += PARTS) {
      const found = await session.find(session.parts.slice(from, from + PARTS))
      session.release()
      count += found.reduce((sum, { postings }) => sum + postings.size, 0)
      if (count > MAX_COUNTED_AT_ONCE) return undefined
      sets.push(...found)
    }
    return await session.timesOf(sets, 'asc', bounds, Infinity)
  } catch (error) {
    if (error instanceof DamagedSegment) index.setAside(error)
    else if (error !== READ_LIMIT_EXCEEDED) throw error
    return undefined
  }
}

import type { Microseconds } from '../../event/timestamp.js'
import { SegmentState } from '../index/segment-source.js'
import { sql } from '../sql.js'
import { lockState, nextVersion } from './index-rows.js'
import type { Dialect } from './dialect.js'
import type { IndexStore } from './index-store.js'
import type { Program } from './program.js'

/*
 * The events that were removed by their ids since a segment was built. The table has the time of each such event, and the
 * number of removed events once it was removed, which is higher than that of a segment that has the event. An event of
 * the same time that was imported after the removal may be in a segment whose number is higher.
 */

/** SQL that is true for a segment `s` that may have the event of the row `r`. */
export const isListedSql =
  's.first <= r.created_at AND s.last >= r.created_at AND s.removed < r.removed'

/** Rows that one transaction checks. */
const STEP = 500

function* hasRemoved({ tables }: Dialect, after: Microseconds, to: Microseconds): Program<boolean> {
  const text = `SELECT 1 FROM ${tables.removed} WHERE created_at > ? AND created_at <= ? LIMIT 1`
  return (yield sql(text, after, to)).length > 0
}

/** Returns the time of the last row that it has checked; `undefined` if there are no more. */
function* forgetSome(
  dialect: Dialect,
  after: Microseconds,
  to: Microseconds,
): Program<Microseconds | undefined> {
  const { tables, isIn, list } = dialect
  const { building, visible, damaged } = SegmentState
  const { sealedTo } = yield* lockState(dialect)
  // The range of a damaged segment may be wrong.
  const rows = yield sql(
    `SELECT created_at, CASE WHEN EXISTS (
       SELECT 1 FROM ${tables.segments} AS s
       WHERE s.state = ${damaged} OR s.state IN (${building}, ${visible}) AND ${isListedSql}
     ) THEN 1 ELSE 0 END
     FROM ${tables.removed} AS r WHERE created_at > ? AND created_at <= ? ORDER BY created_at LIMIT ${STEP}`,
    after,
    to,
  )
  const free = rows.filter(([, isListed]) => Number(isListed) === 0)
  if (free.length > 0) {
    const times = free.map(([time]) => Number(time))
    yield sql(`DELETE FROM ${tables.removed} WHERE ${isIn('created_at')}`, list(times))
    yield* nextVersion(dialect, sealedTo)
  }
  return rows.length < STEP ? undefined : Number(rows.at(-1)![0])
}

/**
 * Deletes the rows between the times, which are not later than `sealed_to`, of events that no segment has any more.
 * Each transaction changes the version: a segment that another process has begun before may have such an event, and
 * cannot be published any more.
 */
export async function forgetRemoved(
  { dialect, read, change }: Pick<IndexStore, 'dialect' | 'read' | 'change'>,
  from: Microseconds,
  to: Microseconds,
): Promise<void> {
  for (let after: Microseconds | undefined = from - 1; after !== undefined;) {
    const last: Microseconds = after
    if (!(await read(() => hasRemoved(dialect, last, to)))) return
    after = await change(() => forgetSome(dialect, last, to))
  }
}

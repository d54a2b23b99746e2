import type { Microseconds } from '../../event/timestamp.js'
import type { IndexedWindow, VerifiedLog } from './verify.js'
import { sql } from '../sql.js'
import type { Dialect } from './dialect.js'
import { type IndexState, loadIndex, loadState, type SegmentRow } from './index-rows.js'
import type { Program } from './program.js'
import { missingTimes } from './segment-times.js'

interface LookedUp extends IndexState {
  readonly missing: readonly Microseconds[]
}

function* lookUp(dialect: Dialect, times: Float64Array): Program<LookedUp> {
  const state = yield* loadState(dialect)
  return { ...state, missing: yield* missingTimes(dialect, times) }
}

function* readWindow(
  dialect: Dialect,
  after: Microseconds,
  max: number,
): Program<IndexedWindow<SegmentRow>> {
  const { events, late } = dialect.tables
  const index = yield* loadIndex(dialect)
  const rows = yield sql(
    `SELECT created_at, CASE WHEN EXISTS (
       SELECT 1 FROM ${late} AS late WHERE late.created_at = event.created_at
     ) THEN 1 ELSE 0 END
     FROM ${events} AS event WHERE created_at > ? AND created_at <= ? ORDER BY created_at LIMIT ${max}`,
    after,
    index.sealedTo,
  )
  const times = rows.flatMap(([time, isLate]) => (Number(isLate) === 1 ? [] : [Number(time)]))
  return { ...index, times, last: rows.length > 0 ? Number(rows.at(-1)![0]) : undefined }
}

/** The reads of the index that a verification needs. `read` runs each one in a transaction of its own. */
export const verifiedIndex = (
  dialect: Dialect,
  read: <Result>(program: () => Program<Result>) => Promise<Result>,
): Pick<VerifiedLog, 'load' | 'lookUp' | 'window'> => ({
  load: () => read(() => loadIndex(dialect)),
  lookUp: (times) => read(() => lookUp(dialect, times)),
  window: (after, max) => read(() => readWindow(dialect, after, max)),
})

import { SERVER_TIME } from '../schema/server.js'
import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { periodOf } from '../schema/partitions.js'
import { isWorthParting, nearBounds, type PartitionedLog } from './near-bounds.js'
import { MAX_TIME } from './ranges.js'

/** The oldest event is probably not later than `oldest`, the newest one not earlier than `newest`. */
export interface ExpectedEnds {
  readonly oldest: Microseconds
  readonly newest: Microseconds
}

const ANYWHERE: ExpectedEnds = { oldest: MAX_TIME, newest: 0 }

/** Where to look for the ends of a log with many partitions, so that Postgres need not plan all of them. */
export interface LogEnds {
  expected(): ExpectedEnds
  note(span: Span): void
}

export function createLogEnds(partitioned: () => PartitionedLog | undefined): LogEnds {
  let oldest: Microseconds | undefined
  return {
    expected() {
      const log = partitioned()
      if (!log || log.partitions === 'none' || !isWorthParting(log)) return ANYWHERE
      return {
        oldest: oldest === undefined ? MAX_TIME : periodOf(oldest, log.partitions).to - 1,
        newest: nearBounds({ from: 0, to: MAX_TIME }, 'desc', log).from,
      }
    },
    note({ first }) {
      oldest = first
    },
  }
}

/** The oldest and the newest event, open or not, and the present by the clock. */
export function spanSql(
  { events, liveEvents }: Names,
  clock: Microseconds | undefined,
  { oldest, newest }: ExpectedEnds = ANYWHERE,
): string {
  const now = clock === undefined ? SERVER_TIME : `'${clock}'::bigint`
  return `SELECT
     (SELECT min(created_at) FROM ${events} WHERE created_at <= ${oldest}),
     (SELECT max(created_at) FROM ${events} WHERE created_at >= ${newest}),
     (SELECT min(created_at) FROM ${liveEvents}), (SELECT max(created_at) FROM ${liveEvents}), ${now}`
}

/** The span that the rows of {@link spanSql} have; `undefined` if the ends are not where they were expected. */
export function readSpan(
  [row]: readonly TextRow[],
  { oldest, newest }: ExpectedEnds = ANYWHERE,
): Span | undefined {
  const [first, last, openFirst, openLast, now] = row!
  if ((first === null && oldest < MAX_TIME) || (last === null && newest > 0)) return undefined
  const timesOf = (...texts: readonly (string | null | undefined)[]): number[] =>
    texts.flatMap((text) => (text === null || text === undefined ? [] : Number(text)))
  const firsts = timesOf(first, openFirst)
  return {
    first: firsts.length === 0 ? undefined : Math.min(...firsts),
    last: Math.max(0, ...timesOf(last, openLast)),
    now: Number(now),
  }
}

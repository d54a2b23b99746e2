import { queryTimedOut } from '../../../src/errors.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { ask, askAll, type PostgresPoolClient, type TextRow } from '../connection/client.js'
import { type Ask, createAsk } from '../connection/connection.js'
import { LIVE_COLUMNS, type LiveRow, readLiveRows } from '../schema/live-rows.js'
import type { Names } from '../schema/names.js'

/** One snapshot of the log. */
export interface Snapshot {
  readonly ask: Ask
  /** True if it is a snapshot of a replica. */
  readonly isReplica: boolean
  /** The open live events within the bounds, oldest first, without their texts. */
  readonly open: readonly LiveRow[]
  /** True if `open` lacks events whose rows cannot be read. */
  readonly isOpenDamaged: boolean
  /** Throws `QUERY_TIMEOUT` once the time limit of all its statements together is over. */
  readonly checkTime: () => void
}

/** Named statements without parameters that are sent with BEGIN, and the rows of each. */
export type Opening = Readonly<Record<string, string>>
export type Opened = Readonly<Record<string, readonly TextRow[]>>

/** Work in a snapshot. */
export interface SnapshotRead<Result> {
  /** Bounds of the open live events, in whole microseconds. */
  readonly bounds: TimeBounds
  readonly use: (snapshot: Snapshot, opened: Opened) => Promise<Result>
  /** The statements that are sent with BEGIN. */
  readonly open: (isReplica: boolean) => Opening
}

/** Does the work in a new snapshot of the client's server. */
export type InSnapshot = <Result>(
  client: PostgresPoolClient,
  isReplica: boolean,
  read: SnapshotRead<Result>,
) => Promise<Result>

/** `timeoutMs` limits each statement; `checkTime` applies it to all statements of a snapshot together. */
export function createSnapshots({ liveEvents, readable }: Names, timeoutMs: number): InSnapshot {
  // Index scans along the key, unless `list` sets another plan: for a table that has grown since it was
  // analyzed, the planner would read and sort all of it.
  const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL jit = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;`

  // Sent with BEGIN, so that it costs no round trip; mostly there are none.
  const readLive = ({ from, to }: TimeBounds): string =>
    `SELECT ${LIVE_COLUMNS} FROM ${liveEvents}
     WHERE created_at BETWEEN ${from} AND ${to} ORDER BY created_at`

  return async (client, isReplica, { bounds, use, open }) => {
    const end = performance.now() + timeoutMs
    const opening = open(isReplica)
    const statements = [readLive(bounds), ...Object.values(opening)]
    const answers = await askAll(client, begin + statements.join(';'))
    const [live, ...rows] = answers.slice(-statements.length)
    const readableLive = readLiveRows(live!, readable.damages)
    const snapshot = {
      ask: createAsk(client),
      isReplica,
      open: readableLive,
      isOpenDamaged: readableLive.length < live!.length,
      checkTime() {
        if (performance.now() > end) throw queryTimedOut(timeoutMs)
      },
    }
    const names = Object.keys(opening)
    const result = await use(snapshot, Object.fromEntries(names.map((name, i) => [name, rows[i]!])))
    await ask(client, 'COMMIT')
    return result
  }
}

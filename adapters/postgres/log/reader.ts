import { abortedError, AuditLogError } from '../../../src/errors.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import {
  ask,
  askAll,
  type PostgresPool,
  type PostgresPoolClient,
  type TextRow,
} from '../connection/client.js'
import { type Ask, asker, withConnection } from '../connection/connection.js'
import {
  asAuditLogError,
  codeOf,
  isStatementError,
  isTransient,
  QUERY_CANCELED,
  timedOut,
  UNDEFINED_TABLE,
} from '../connection/failures.js'
import type { PostgresLog } from './log.js'
import { LIVE_COLUMNS, type LiveRow, readLiveRow } from '../schema/live-rows.js'

/** What a replica must have replayed before it may answer this process. */
export interface OwnWrites {
  /** The time of the newest event that this process has appended. */
  appended: Microseconds
  /** The WAL position after its last import or live change, such as `0/3000060`. */
  walPosition: string | undefined
}

/** One snapshot of the log. */
export interface Snapshot {
  readonly ask: Ask
  /** True if it is a snapshot of a replica. */
  readonly isReplica: boolean
  /** The open live events within the bounds, oldest first, without their texts. */
  readonly open: readonly LiveRow[]
  /** Throws `QUERY_TIMEOUT` once the time limit of all its statements together is over. */
  readonly checkTime: () => void
}

/** Named statements without parameters that are sent with BEGIN, and the rows of each. */
export type Opening = Readonly<Record<string, string>>
export type Opened = Readonly<Record<string, readonly TextRow[]>>

type Use<Result> = (snapshot: Snapshot, opened: Opened) => Promise<Result>

export interface Reader {
  /**
   * Calls `use` with a snapshot of a replica, or of the primary. `bounds`, in whole microseconds, select
   * the open live events. The statements of `open` are sent with the BEGIN of the snapshot.
   */
  read<Result>(
    signal: AbortSignal | undefined,
    bounds: TimeBounds,
    use: Use<Result>,
    open?: (isReplica: boolean) => Opening,
  ): Promise<Result>
}

interface Read<Result> {
  readonly bounds: TimeBounds
  readonly use: Use<Result>
  readonly open: (isReplica: boolean) => Opening
}

// How much longer to wait for the server to report that it stopped the statement.
const GRACE_MS = 1000

class ReplicaBehind extends Error {}

export function createReader(
  log: PostgresLog,
  readPool: PostgresPool | undefined,
  timeoutMs: number,
  own: OwnWrites,
): Reader {
  // Index scans along the key, unless `list` sets another plan: for a table that has grown since it was
  // analyzed, the planner would read and sort all of it.
  const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL jit = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;`

  // Sent with BEGIN, so that it costs no round trip; mostly there are none.
  const readLive = ({ from, to }: TimeBounds): string =>
    `SELECT ${LIVE_COLUMNS} FROM ${log.names.liveEvents}
     WHERE created_at BETWEEN ${from} AND ${to} ORDER BY created_at`

  const inSnapshot = async <Result>(
    client: PostgresPoolClient,
    isReplica: boolean,
    { bounds, use, open }: Read<Result>,
  ): Promise<Result> => {
    const end = performance.now() + timeoutMs
    const opening = open(isReplica)
    const statements = [readLive(bounds), ...Object.values(opening)]
    const answers = await askAll(client, begin + statements.join(';'))
    const [live, ...rows] = answers.slice(-statements.length)
    const snapshot = {
      ask: asker(client),
      isReplica,
      open: live!.map(readLiveRow),
      checkTime() {
        if (performance.now() > end) throw timedOut(timeoutMs)
      },
    }
    const names = Object.keys(opening)
    const result = await use(snapshot, Object.fromEntries(names.map((name, i) => [name, rows[i]!])))
    await ask(client, 'COMMIT')
    return result
  }

  /** `created_at` rises in the order of commits, so a replica with one event has all events before it. */
  const checkReplica = async (ask: Ask): Promise<void> => {
    if (own.appended === 0 && own.walPosition === undefined) return
    const [row] = await ask(
      `SELECT (
           $1::bigint = 0 OR EXISTS (SELECT FROM ${log.names.events} WHERE created_at >= $1)
             OR EXISTS (SELECT FROM ${log.names.liveEvents} WHERE created_at >= $1)
         ) AND coalesce(NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= $2::pg_lsn, true)`,
      own.appended,
      own.walPosition ?? null,
    )
    if (row![0] !== 't') throw new ReplicaBehind()
  }

  const readReplica = async <Result>(
    pool: PostgresPool,
    signal: AbortSignal,
    read: Read<Result>,
  ): Promise<{ readonly result: Result } | undefined> => {
    try {
      // Only the primary can create or migrate the schema.
      if (!log.state()) await log.use(signal, () => Promise.resolve())
      const result = await withConnection(pool, signal, (client) =>
        inSnapshot(client, true, {
          ...read,
          async use(snapshot, opened) {
            await checkReplica(snapshot.ask)
            return read.use(snapshot, opened)
          },
        }),
      )
      return { result }
    } catch (error) {
      // A replica without the schema is behind as well.
      if (codeOf(error) === UNDEFINED_TABLE) return undefined
      // If the replica is behind, away, or has cancelled the query for recovery, the primary answers.
      if (error instanceof ReplicaBehind || isTransient(error)) {
        if (codeOf(error) !== QUERY_CANCELED) return undefined
      }
      throw error
    }
  }

  const readOnce = async <Result>(signal: AbortSignal, read: Read<Result>): Promise<Result> => {
    const replied = readPool && (await readReplica(readPool, signal, read))
    if (replied) return replied.result
    return log.use(signal, (client) => inSnapshot(client, false, read))
  }

  return {
    async read(signal, bounds, use, open = () => ({})) {
      const query = { bounds, use, open }
      using wait = timeoutSignal(timeoutMs + GRACE_MS, signal)
      try {
        try {
          return await readOnce(wait.signal, query)
        } catch (error) {
          // An idle connection of the pool may have died; the second attempt gets a new one.
          if (!isTransient(error) || isStatementError(error)) throw error
          return await readOnce(wait.signal, query)
        }
      } catch (error) {
        if (signal?.aborted) throw abortedError(signal)
        if (error instanceof AuditLogError && error.code === 'ABORTED')
          throw timedOut(timeoutMs, error.cause)
        throw asAuditLogError(error, timeoutMs)
      }
    },
  }
}

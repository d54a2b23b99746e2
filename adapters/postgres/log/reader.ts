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
  isAnswer,
  isTransient,
  QUERY_CANCELED,
  timedOut,
  UNDEFINED_TABLE,
} from '../connection/failures.js'
import type { PostgresLog } from './log.js'
import { LIVE_COLUMNS, type LiveRow, readLiveRow } from '../schema/live-rows.js'

/** What a replica must have, so that nobody misses there what he has recorded himself. */
export interface OwnWrites {
  /** The newest event that this process has appended. */
  recorded: Microseconds
  /** That in the server's log after its last import or live change, such as `0/3000060`. */
  place: string | undefined
}

/** One snapshot of the log. */
export interface Snapshot {
  readonly ask: Ask
  /** Whether it is one of `readPool`'s. */
  readonly isReplica: boolean
  /** The live events within the bounds that are open, oldest first, without their texts. */
  readonly open: readonly LiveRow[]
  /** Throws `QUERY_TIMEOUT` once the time is over that all of its statements have together. */
  readonly checkTime: () => void
}

/** Statements without parameters, by what they are called, and the rows of each. */
export type Opening = Readonly<Record<string, string>>
export type Opened = Readonly<Record<string, readonly TextRow[]>>

type Use<Result> = (snapshot: Snapshot, opened: Opened) => Promise<Result>

export interface Reader {
  /**
   * `bounds` are whole numbers: those of the open live events that are wanted. What `open` gives is asked
   * along with the beginning of a snapshot.
   */
  read<Result>(
    signal: AbortSignal | undefined,
    bounds: TimeBounds,
    use: Use<Result>,
    open?: (isReplica: boolean) => Opening,
  ): Promise<Result>
}

/** What one read wants of whichever server answers it. */
interface Wanted<Result> {
  readonly bounds: TimeBounds
  readonly use: Use<Result>
  readonly open: (isReplica: boolean) => Opening
}

// A server that stops a statement in time is given so much longer to say so.
const GRACE_MS = 1000

class Behind extends Error {}

export function createReader(
  log: PostgresLog,
  readPool: PostgresPool | undefined,
  timeoutMs: number,
  own: OwnWrites,
): Reader {
  // Along the key, unless `list` says otherwise: of a table that has grown since it was analyzed the
  // planner would collect and sort the whole.
  const begin = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = ${timeoutMs}; SET LOCAL jit = off;
    SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off;`

  // In the statement that there is anyhow: mostly there are none.
  const readLive = ({ from, to }: TimeBounds): string =>
    `SELECT ${LIVE_COLUMNS} FROM ${log.names.liveEvents}
     WHERE created_at BETWEEN ${from} AND ${to} ORDER BY created_at`

  const inSnapshot = async <Result>(
    client: PostgresPoolClient,
    isReplica: boolean,
    { bounds, use, open }: Wanted<Result>,
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

  /** `created_at` rises in the order of commits, so one event tells of all before it. */
  const checkReplica = async (ask: Ask): Promise<void> => {
    if (own.recorded === 0 && own.place === undefined) return
    const [row] = await ask(
      `SELECT (
           $1::bigint = 0 OR EXISTS (SELECT FROM ${log.names.events} WHERE created_at >= $1)
             OR EXISTS (SELECT FROM ${log.names.liveEvents} WHERE created_at >= $1)
         ) AND coalesce(NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= $2::pg_lsn, true)`,
      own.recorded,
      own.place ?? null,
    )
    if (row![0] !== 't') throw new Behind()
  }

  const readReplica = async <Result>(
    pool: PostgresPool,
    signal: AbortSignal,
    wanted: Wanted<Result>,
  ): Promise<{ readonly result: Result } | undefined> => {
    try {
      // The schema is the primary's business.
      if (!log.state()) await log.use(signal, () => Promise.resolve())
      const result = await withConnection(pool, signal, (client) =>
        inSnapshot(client, true, {
          ...wanted,
          async use(snapshot, opened) {
            await checkReplica(snapshot.ask)
            return wanted.use(snapshot, opened)
          },
        }),
      )
      return { result }
    } catch (error) {
      // A replica that has not the schema yet is behind as well.
      if (codeOf(error) === UNDEFINED_TABLE) return undefined
      // A replica that is behind, away, or cannot keep what the query reads: the primary answers.
      if (error instanceof Behind || isTransient(error)) {
        if (codeOf(error) !== QUERY_CANCELED) return undefined
      }
      throw error
    }
  }

  const readOnce = async <Result>(signal: AbortSignal, wanted: Wanted<Result>): Promise<Result> => {
    const replied = readPool && (await readReplica(readPool, signal, wanted))
    if (replied) return replied.result
    return log.use(signal, (client) => inSnapshot(client, false, wanted))
  }

  return {
    async read(signal, bounds, use, open = () => ({})) {
      const wanted = { bounds, use, open }
      using wait = timeoutSignal(timeoutMs + GRACE_MS, signal)
      try {
        try {
          return await readOnce(wait.signal, wanted)
        } catch (error) {
          // A connection may have died while it waited in the pool: the next one is a new one.
          if (!isTransient(error) || isAnswer(error)) throw error
          return await readOnce(wait.signal, wanted)
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

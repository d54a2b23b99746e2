import type { Microseconds } from '../../../src/event/timestamp.js'
import type { PostgresPool } from '../connection/client.js'
import { type Ask, withConnection } from '../connection/connection.js'
import { codeOf, isTransient, QUERY_CANCELED, UNDEFINED_TABLE } from '../connection/failures.js'
import type { Names } from '../schema/names.js'
import type { PostgresLog } from './log.js'
import type { InSnapshot, SnapshotRead } from './snapshot.js'

/** What a replica must have replayed before it may answer this process. */
export interface OwnWrites {
  /** The time of the newest event that this process has appended. */
  appended: Microseconds
  /** The WAL position after its last import or live change, such as `0/3000060`. */
  walPosition: string | undefined
}

class ReplicaBehind extends Error {}

/** `created_at` rises in the order of commits, so a replica with one event has all events before it. */
async function checkReplica(
  ask: Ask,
  { events, liveEvents }: Names,
  { appended, walPosition }: OwnWrites,
): Promise<void> {
  if (appended === 0 && walPosition === undefined) return
  const [row] = await ask(
    `SELECT (
         $1::bigint = 0 OR EXISTS (SELECT FROM ${events} WHERE created_at >= $1)
           OR EXISTS (SELECT FROM ${liveEvents} WHERE created_at >= $1)
       ) AND coalesce(NOT pg_is_in_recovery() OR pg_last_wal_replay_lsn() >= $2::pg_lsn, true)`,
    appended,
    walPosition ?? null,
  )
  if (row![0] !== 't') throw new ReplicaBehind()
}

export interface Replica {
  readonly log: PostgresLog
  readonly pool: PostgresPool
  readonly own: OwnWrites
  readonly inSnapshot: InSnapshot
}

/** `undefined` if the primary has to answer. */
export async function readReplica<Result>(
  { log, pool, own, inSnapshot }: Replica,
  signal: AbortSignal,
  read: SnapshotRead<Result>,
): Promise<{ readonly result: Result } | undefined> {
  try {
    // Only the primary can create or migrate the schema.
    if (!log.state()) await log.use(signal, () => Promise.resolve())
    const result = await withConnection(pool, signal, (client) =>
      inSnapshot(client, true, {
        ...read,
        async use(snapshot, opened) {
          await checkReplica(snapshot.ask, log.names, own)
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

import { newestSql } from '../schema/high-water.js'
import type { ReplicaHealth } from '../../../src/store/health.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { ask, type PostgresPoolClient, type TextRow } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import type { Names } from '../schema/names.js'
import type { Replicas, ReplicaState } from './replicas.js'
import { walBytes } from './wal-position.js'

const MEASURE_MS = 1000

/** A paused standby keeps its connection to the primary; a standby without one replays nothing new. */
const PLACE = `SELECT pg_is_in_recovery(), CASE WHEN pg_is_in_recovery() THEN pg_is_wal_replay_paused() END,
  EXISTS (SELECT FROM pg_catalog.pg_stat_wal_receiver), pg_last_wal_replay_lsn()`

/** The end of the primary's write-ahead log, and the age of the oldest event after $1, in milliseconds. */
const aheadSql = ({ events, liveEvents }: Names): string =>
  `SELECT pg_current_wal_flush_lsn(), coalesce(
     extract(epoch FROM clock_timestamp()) * 1000 - least(
       (SELECT min(created_at) FROM ${events} WHERE created_at > $1),
       (SELECT min(created_at) FROM ${liveEvents} WHERE created_at > $1)
     ) / 1000.0, 0)`

interface Measured {
  readonly place: TextRow
  /** The time of its newest event. */
  readonly newest: string
}

const measure = async (client: PostgresPoolClient, names: Names): Promise<Measured> => {
  const [place] = await ask(client, PLACE)
  const [row] = await ask(client, `SELECT ${newestSql(names)}`)
  return { place: place!, newest: row![0]! }
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Health of a replica as far as it answers without the primary, with the time of its newest event and its WAL position. */
interface Answer {
  readonly health: ReplicaHealth
  readonly measured?: Measured
}

async function askReplica(replica: ReplicaState, names: Names): Promise<Answer> {
  const { name, pool, reason } = replica
  using wait = timeoutSignal(MEASURE_MS)
  try {
    const measured = await withConnection(pool, wait.signal, (client) => measure(client, names))
    const [isStandby, isPaused, isReceiving] = measured.place
    const replaying = isStandby === 't' && isPaused === 'f' && isReceiving === 't'
    const isSkipped = replica.skippedUntil > performance.now() && reason !== undefined
    const health = { name, reachable: true, replaying, ...(isSkipped && { skipped: reason }) }
    return isStandby === 't' ? { health, measured } : { health }
  } catch (error) {
    const isOver = wait.signal.aborted
    const why = isOver ? `it did not answer within ${MEASURE_MS} ms` : messageOf(error)
    return { health: { name, reachable: false, replaying: false, error: why } }
  }
}

async function withLag(
  { health, measured }: Answer,
  primary: PostgresPoolClient,
  names: Names,
): Promise<ReplicaHealth> {
  if (!measured) return health
  const [row] = await ask(primary, aheadSql(names), measured.newest)
  const [end, lagMs] = row!
  const lagBytes = walBytes(end!) - walBytes(measured.place[3] ?? '0/0')
  return {
    ...health,
    lagBytes: Math.max(0, Number(lagBytes)),
    lagMs: Math.max(0, Math.round(Number(lagMs))),
  }
}

/** Measures each replica against the primary. */
export async function replicasHealth(
  replicas: Replicas,
  names: Names,
  primary: PostgresPoolClient,
): Promise<readonly ReplicaHealth[]> {
  const answers = await Promise.all(replicas.all.map((replica) => askReplica(replica, names)))
  const healths: ReplicaHealth[] = []
  for (const answer of answers) healths.push(await withLag(answer, primary, names))
  return healths
}

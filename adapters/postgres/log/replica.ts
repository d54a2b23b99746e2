import type { ConsistencyToken } from '../../../src/store/consistency-token.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import {
  codeOf,
  isCorrupt,
  isStatementError,
  isTransient,
  QUERY_CANCELED,
  UNDEFINED_TABLE,
} from '../connection/failures.js'
import type { Names } from '../schema/names.js'
import type { PostgresLog } from './log.js'
import type { PrimaryPositions } from '../replicas/primary-positions.js'
import type { Replicas, ReplicaOutcome, ReplicaState } from '../replicas/replicas.js'
import type { InSnapshot, SnapshotRead } from './snapshot.js'
import { walBytes } from '../replicas/wal-position.js'

/** Writes of this process that a replica must have replayed before it may answer. */
export interface OwnWrites {
  /** The time of the newest event that this process has appended. */
  appended: Microseconds
  /** The WAL position after its last import or live change, such as `0/3000060`. */
  walPosition: string | undefined
}

/** How long a replica may take until it begins to answer. */
const BEGIN_MS = 2000

/** The replica cannot answer this read. */
class Unusable extends Error {
  readonly outcome: Exclude<ReplicaOutcome, 'answered'>
  constructor(outcome: Exclude<ReplicaOutcome, 'answered'>, reason: string) {
    super(reason)
    this.outcome = outcome
  }
}

/** Sent before the snapshot, so the snapshot has everything that was replayed when it was answered. */
const REPLAYED = 'SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn()'

const HAS_TIME = 'hasTime'

/** SQL that is true if the snapshot has an event of the time or a later one. */
const hasTimeSql = ({ events, liveEvents }: Names, time: Microseconds): string =>
  `SELECT EXISTS (SELECT FROM ${events} WHERE created_at >= ${time})
     OR EXISTS (SELECT FROM ${liveEvents} WHERE created_at >= ${time})`

/** The state that a replica must have reached to answer a read. */
export interface Needed {
  /** `created_at` rises in the order of commits, so a server with an event of this time has all events before it. */
  readonly time: Microseconds
  /** WAL positions. Positions of different clusters do not compare. */
  readonly positions: readonly { readonly cluster: string | undefined; readonly at: string }[]
}

export function neededFor(own: OwnWrites, token: ConsistencyToken | undefined): Needed {
  const positions = []
  if (own.walPosition !== undefined) positions.push({ cluster: undefined, at: own.walPosition })
  if (token?.wal) positions.push({ cluster: token.wal.cluster, at: token.wal.position })
  return { time: Math.max(own.appended, token?.time ?? 0), positions }
}

export interface ReplicaReading {
  readonly log: PostgresLog
  readonly replicas: Replicas
  /** Set if there is a maximum lag. */
  readonly lag: { readonly maxMs: number; readonly primary: PrimaryPositions } | undefined
  readonly inSnapshot: InSnapshot
}

function checkReplayed(
  [isStandby, replayed]: TextRow,
  { positions }: Needed,
  { cluster, lag }: { readonly cluster: string; readonly lag: ReplicaReading['lag'] },
): void {
  for (const needed of positions) {
    const isSame = needed.cluster === undefined || needed.cluster === cluster
    const has = isSame && (isStandby === 'f' || walBytes(replayed ?? '0/0') >= walBytes(needed.at))
    if (!has) throw new Unusable('behind', 'it lacks a write that the read needs')
  }
  if (!lag || isStandby === 'f') return
  const age = lag.primary.ageOf(walBytes(replayed ?? '0/0'))
  if (age > lag.maxMs)
    throw new Unusable('late', 'it is further behind than maxLag, or the primary does not answer')
}

/** Calls `act` with a signal that also aborts unless `begun` is called in time. */
async function beginningSoon<Result>(
  signal: AbortSignal,
  act: (signal: AbortSignal, begun: () => void) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController()
  const onAbort = (): void => limit.abort(signal.reason)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    limit.abort()
  }, BEGIN_MS)
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    return await act(limit.signal, () => clearTimeout(timer))
  } catch (error) {
    throw isLate && !signal.aborted
      ? new Unusable('failed', `it did not answer within ${BEGIN_MS} ms`)
      : error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Why the replica could not answer; `undefined` if the read itself has failed. */
function unusable(error: unknown): Unusable | undefined {
  if (error instanceof Unusable) return error
  const reason = error instanceof Error ? error.message : String(error)
  // A replica without the schema is behind as well.
  if (codeOf(error) === UNDEFINED_TABLE) return new Unusable('behind', reason)
  // The primary may be able to read its copy of the table.
  if (isCorrupt(error)) return new Unusable('failed', reason)
  if (!isTransient(error) || codeOf(error) === QUERY_CANCELED) return undefined
  // A statement that fails, such as one that recovery has cancelled, says nothing about the next one.
  return new Unusable(isStatementError(error) ? 'behind' : 'failed', reason)
}

/** Reads from one replica; rejects with `Unusable`, or as the read does. */
async function readFrom<Result>(
  { log, lag, inSnapshot }: ReplicaReading,
  replica: ReplicaState,
  { signal, needed, read }: ReplicaRead<Result>,
): Promise<Result> {
  const hasTime: Record<string, string> =
    needed.time > 0 ? { [HAS_TIME]: hasTimeSql(log.names, needed.time) } : {}
  return beginningSoon(signal, (limit, begun) =>
    withConnection(replica.pool, limit, async (client) => {
      log.noteUse(client)
      // Once for a connection: the timeline of a standby would be read each time.
      if (log.cluster(client) === '') await log.checkTimeline(client)
      const server = { cluster: log.cluster(client), lag }
      return inSnapshot(client, replica.number, {
        ...read,
        before: REPLAYED,
        open: (server) => ({ ...hasTime, ...read.open(server) }),
        async use(snapshot, opened, [replayed] = []) {
          begun()
          checkReplayed(replayed!, needed, server)
          if (opened[HAS_TIME] && opened[HAS_TIME][0]![0] !== 't')
            throw new Unusable('behind', 'it lacks an event that the read needs')
          return read.use(snapshot, opened)
        },
      })
    }),
  )
}

interface ReplicaRead<Result> {
  readonly signal: AbortSignal
  readonly needed: Needed
  readonly read: SnapshotRead<Result>
}

/** Reads from the first replica that can answer; `undefined` if the primary has to. */
export async function readReplica<Result>(
  reading: ReplicaReading,
  wanted: ReplicaRead<Result>,
  isUrgent: boolean,
): Promise<{ readonly result: Result } | undefined> {
  const { replicas } = reading
  for (const replica of replicas.choose(isUrgent)) {
    replica.reads += 1
    try {
      const result = await readFrom(reading, replica, wanted)
      replicas.note(replica, 'answered')
      return { result }
    } catch (error) {
      const why = unusable(error)
      if (!why) throw error
      replicas.note(replica, why.outcome, why.message)
    } finally {
      replica.reads -= 1
    }
  }
  return undefined
}

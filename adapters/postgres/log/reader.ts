import { abortedError, AuditLogError, queryTimedOut } from '../../../src/errors.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import {
  type ConsistencyToken,
  readToken,
  requireReached,
} from '../../../src/store/consistency-token.js'
import type { ReadOptions } from '../../../src/store/store.js'
import { pause } from '../connection/backoff.js'
import { asAuditLogError, isLostConnection, isTransient } from '../connection/failures.js'
import type { PostgresLog } from './log.js'
import { createPrimaryPositions } from '../replicas/primary-positions.js'
import { neededFor, type OwnWrites, readReplica } from './replica.js'
import type { Replicas } from '../replicas/replicas.js'
import { createSnapshots, type Opening, type ServerNumber, type SnapshotRead } from './snapshot.js'

export interface ReadMeans<Result> {
  readonly open?: (server: ServerNumber) => Opening
  /** True for an outcome after which to read again, with the whole time. */
  readonly repeats?: (outcome: { readonly result: Result } | { readonly error: unknown }) => boolean
}

export interface Reader {
  /**
   * Calls `use` with a snapshot of a replica, or of the primary. `bounds`, in whole microseconds, select
   * the open live events. The statements of `open` are sent with the BEGIN of the snapshot. Reads again if the connection was
   * lost, and while `repeats`. Rejects with `NOT_REACHED` if the log has no state that the token demands.
   */
  read<Result>(
    options: ReadOptions,
    bounds: TimeBounds,
    use: SnapshotRead<Result>['use'],
    { open, repeats }?: ReadMeans<Result>,
  ): Promise<Result>
  close(): void
}

export interface ReaderOptions {
  readonly replicas: Replicas
  /** A replica that may be further behind does not answer. @default any lag */
  readonly maxLagMs: number | undefined
  readonly timeoutMs: number
  /** Writes of this process that an answer must include. */
  readonly own: OwnWrites
}

const PRIMARY: ServerNumber = 0
const HIGH_WATER = 'highWater'

// How much longer to wait for the server to report that it stopped the statement.
const GRACE_MS = 1000

export function createReader(
  log: PostgresLog,
  { replicas, maxLagMs, timeoutMs, own }: ReaderOptions,
): Reader {
  const inSnapshot = createSnapshots(log, timeoutMs)
  const primary = maxLagMs === undefined ? undefined : createPrimaryPositions(log, maxLagMs)
  const lag = primary && { maxMs: maxLagMs!, primary }
  const reading = { log, replicas, lag, inSnapshot }

  const fromReplica = async <Result>(
    signal: AbortSignal,
    read: SnapshotRead<Result>,
    {
      token,
      isUrgent,
    }: { readonly token: ConsistencyToken | undefined; readonly isUrgent: boolean },
  ): Promise<{ readonly result: Result } | undefined> => {
    if (replicas.all.length === 0 || token?.isNewest) return undefined
    try {
      // Only the primary can create or migrate the schema.
      if (!log.state()) await log.use(signal, () => Promise.resolve())
    } catch (error) {
      // The read of the primary below says why.
      if (isTransient(error)) return undefined
      throw error
    }
    return readReplica(reading, { signal, needed: neededFor(own, token), read }, isUrgent)
  }

  const fromPrimary = <Result>(
    signal: AbortSignal,
    read: SnapshotRead<Result>,
    token: ConsistencyToken | undefined,
  ): Promise<Result> =>
    log.use(signal, (client) =>
      inSnapshot(client, PRIMARY, {
        ...read,
        open: (server) => ({
          ...read.open(server),
          ...(token && { [HIGH_WATER]: `SELECT last_value FROM ${log.names.highWater}` }),
        }),
        async use(snapshot, opened) {
          if (token) requireReached(token, Number(opened[HIGH_WATER]![0]![0]))
          return read.use(snapshot, opened)
        },
      }),
    )

  const read = async <Result>(
    options: ReadOptions,
    bounds: TimeBounds,
    use: SnapshotRead<Result>['use'],
    means: ReadMeans<Result> = {},
  ): Promise<Result> => {
    const { signal, consistencyToken } = options
    const token = readToken(consistencyToken)
    const query = { bounds, use, open: means.open ?? (() => ({})) }
    using wait = timeoutSignal(timeoutMs + GRACE_MS, signal)
    let failure: unknown
    for (let attempts = 0; ; attempts++) {
      try {
        const replied = await fromReplica(wait.signal, query, { token, isUrgent: attempts > 0 })
        const result = replied ? replied.result : await fromPrimary(wait.signal, query, token)
        return means.repeats?.({ result }) ? await read(options, bounds, use, means) : result
      } catch (error) {
        if (signal?.aborted) throw abortedError(signal)
        const isOver = error instanceof AuditLogError && error.code === 'ABORTED'
        // An earlier failure says more than the time limit.
        if (isOver) throw failure ? asAuditLogError(failure) : queryTimedOut(timeoutMs, error.cause)
        if (means.repeats?.({ error })) return await read(options, bounds, use, means)
        // The connection was lost, or there was none. Errors of statements are not repeated, nor is a first call.
        const mayWait = attempts === 0 || log.state() !== undefined
        if (!mayWait || !isLostConnection(error)) throw asAuditLogError(error, timeoutMs)
        failure = error
      }
      await pause(attempts, wait.signal)
    }
  }
  return { read, close: () => primary?.close() }
}

import { abortedError, AuditLogError, queryTimedOut } from '../../../src/errors.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { pause } from '../connection/backoff.js'
import type { PostgresPool } from '../connection/client.js'
import { asAuditLogError, isLostConnection } from '../connection/failures.js'
import type { PostgresLog } from './log.js'
import { type OwnWrites, readReplica } from './replica.js'
import { createSnapshots, type Opening, type SnapshotRead } from './snapshot.js'

export interface Reader {
  /**
   * Calls `use` with a snapshot of a replica, or of the primary. `bounds`, in whole microseconds, select
   * the open live events. The statements of `open` are sent with the BEGIN of the snapshot.
   */
  read<Result>(
    signal: AbortSignal | undefined,
    bounds: TimeBounds,
    use: SnapshotRead<Result>['use'],
    open?: (isReplica: boolean) => Opening,
  ): Promise<Result>
}

// How much longer to wait for the server to report that it stopped the statement.
const GRACE_MS = 1000

export function createReader(
  log: PostgresLog,
  readPool: PostgresPool | undefined,
  timeoutMs: number,
  own: OwnWrites,
): Reader {
  const inSnapshot = createSnapshots(log.names, timeoutMs)
  const replica = readPool && { log, pool: readPool, own, inSnapshot }

  const readOnce = async <Result>(
    signal: AbortSignal,
    read: SnapshotRead<Result>,
  ): Promise<Result> => {
    const replied = replica && (await readReplica(replica, signal, read))
    if (replied) return replied.result
    return log.use(signal, (client) => inSnapshot(client, false, read))
  }

  return {
    async read(signal, bounds, use, open = () => ({})) {
      const query = { bounds, use, open }
      using wait = timeoutSignal(timeoutMs + GRACE_MS, signal)
      let failure: unknown
      for (let attempts = 0; ; attempts++) {
        try {
          return await readOnce(wait.signal, query)
        } catch (error) {
          if (signal?.aborted) throw abortedError(signal)
          const isOver = error instanceof AuditLogError && error.code === 'ABORTED'
          if (isOver && failure === undefined) throw queryTimedOut(timeoutMs, error.cause)
          // An earlier failure says more than the time limit.
          if (isOver) throw asAuditLogError(failure)
          // The connection was lost, or there was none. Errors of statements are not repeated, nor is a first call.
          const mayWait = attempts === 0 || log.state() !== undefined
          if (!mayWait || !isLostConnection(error)) throw asAuditLogError(error, timeoutMs)
          failure = error
        }
        await pause(attempts, wait.signal)
      }
    },
  }
}

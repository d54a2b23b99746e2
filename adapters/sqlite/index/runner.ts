import { throwIfAborted } from '../../../src/errors.js'
import { createConnection, type Connection } from '../connection/connection.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { openDatabase, type SqliteDatabase } from '../connection/database.js'
import type { RestIn } from './pacing.js'
import { type RoundEnd, sealRound } from './round.js'
import { sealingSteps } from './steps.js'

/** Runs rounds of sealing, in this thread or in another. */
export interface SealingRunner {
  /** Rejects with what goes wrong; the runner is of no use then. Not to be called while it runs. */
  run(): Promise<RoundEnd>
  /** Ends after the transaction that runs, and lets go of everything. */
  close(): Promise<void>
}

export interface SealingOptions {
  readonly tuning: SealingTuning
  /** How long others wait for one who has died. */
  readonly leaseMs: number
}

export interface RunnerOptions extends SealingOptions {
  readonly filename: string
}

// Pages of the WAL after which a commit writes them to the file: sooner than the store's own do, so
// that this is done here.
const CHECKPOINT = 2000

/**
 * The index can be built again from the events, so no commit of it needs to be on the disk: the
 * order of the WAL keeps, and a commit of the store's brings all before it to the disk. Without
 * WAL it would be the file's consistency that is at risk.
 */
function openForSealing(filename: string, lockWaitMs: number): SqliteDatabase {
  const database = openDatabase(filename, (database) => {
    database.pragma(`wal_autocheckpoint = ${CHECKPOINT}`)
    database.pragma('cache_size = -16384')
  })
  const isWal = database.pragma('journal_mode', { simple: true }) === 'wal'
  database.pragma(isWal ? 'synchronous = NORMAL' : `busy_timeout = ${lockWaitMs}`)
  return database
}

/**
 * Runs rounds in this thread, on a connection of its own that it opens with the first. Where reading
 * meets locks, as without WAL, it blocks the thread for so long at most.
 */
export function localRunner(
  { filename, tuning, leaseMs }: RunnerOptions,
  restIn: RestIn,
  lockWaitMs = 0,
): SealingRunner {
  const controller = new AbortController()
  const { signal } = controller
  let connection: Connection | undefined
  let running: Promise<RoundEnd> | undefined

  const round = async (): Promise<RoundEnd> => {
    throwIfAborted(signal)
    connection ??= createConnection(openForSealing(filename, lockWaitMs))
    const steps = sealingSteps(connection, tuning)
    return sealRound(connection, { steps, leaseMs, rest: restIn(connection, signal), signal })
  }

  return {
    run: () => (running = round()),
    async close() {
      controller.abort()
      await running?.catch(() => {})
      connection?.database.close()
      connection = undefined
    },
  }
}

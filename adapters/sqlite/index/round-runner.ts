import { throwIfAborted } from '../../../src/errors.js'
import { systemClock } from '../../../src/event/timestamp.js'
import { type RoundEnd, runRound } from '../../../src/store-kit/index-builder/round.js'
import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { createConnection, type Connection } from '../connection/connection.js'
import { createCheckpointer, type LockState, newLockState } from '../connection/checkpointer.js'
import { openDatabase, type SqliteDatabase } from '../connection/database.js'
import { type Driver, loadDriver, type SqliteDriverName } from '../connection/driver.js'
import type { Compression } from './compression.js'
import { createDriver } from './index-driver.js'
import { createLease } from './lease.js'
import type { CreatePacer } from './pacing.js'

/** Runs rounds of building the index, in this thread or in another. */
export interface RoundRunner {
  /**
   * One call at a time. After it has rejected, the runner cannot be used again. `isEarly` seals fewer events than a
   * segment has: see `EarlySealing`.
   */
  run(isEarly?: boolean): Promise<RoundEnd>
  /** Checkpoints the WAL if it is long. */
  checkpoint(): void
  /** Ends after the transaction under way and closes the connection. */
  close(): Promise<void>
}

/** Holds only values that can be cloned, because a thread may receive them. */
export interface RunnerOptions {
  readonly filename: string
  /** Must be the store's library: two libraries in one process cancel each other's locks. */
  readonly driver: SqliteDriverName
  readonly tuning: SealingTuning
  readonly compression?: Compression
  /** A process that dies keeps the lease for at most this long. */
  readonly leaseMs: number
  /** Memory for pages of the file. */
  readonly cacheBytes: number
  /** Says when the runner has the lock for a checkpoint. */
  readonly lock?: LockState
}

/** How often a merge checks whether there is shorter work to do. */
const SEAL_CHECK_MS = 100

/**
 * The index can be built again from the events, so its commits need not be durable: the WAL keeps their
 * order, and the next durable commit of the store includes them. Packing is lost as a whole with its commit, and
 * leaves the events as they were. Without WAL, `synchronous` stays as it is, because a lower level could corrupt
 * the file.
 */
function openForSealing(
  { filename, cacheBytes }: Pick<RunnerOptions, 'filename' | 'cacheBytes'>,
  driver: Driver,
  lockWaitMs: number,
): SqliteDatabase {
  const database = openDatabase(filename, () => {}, { mustExist: true, driver, cacheBytes })
  const isWal = database.pragma('journal_mode', { simple: true }) === 'wal'
  database.pragma(isWal ? 'synchronous = NORMAL' : `busy_timeout = ${lockWaitMs}`)
  return database
}

/**
 * Runs rounds in this thread, on a connection of its own that the first round opens. A read that meets a lock, as it may
 * without WAL, blocks the thread for up to `lockWaitMs`.
 */
export function createRoundRunner(
  {
    filename,
    driver: driverName,
    tuning,
    compression,
    leaseMs,
    cacheBytes,
    lock = newLockState(),
  }: RunnerOptions,
  createPacer: CreatePacer,
  lockWaitMs = 0,
): RoundRunner {
  const driver = loadDriver(driverName)
  const checkpointer = createCheckpointer(filename, driver, lock)
  const controller = new AbortController()
  const { signal } = controller
  const clock = systemClock()
  let connection: Connection | undefined
  let running: Promise<RoundEnd> | undefined

  const connect = (): Connection =>
    createConnection(openForSealing({ filename, cacheBytes }, driver, lockWaitMs), driver)

  const round = async (isEarly: boolean): Promise<RoundEnd> => {
    throwIfAborted(signal)
    const open = (connection ??= connect())
    const pacer = createPacer(open, signal)
    return runRound({
      tuning,
      isEarly,
      leaseMs,
      sealCheckMs: SEAL_CHECK_MS,
      lease: createLease(open, clock, signal),
      pacer,
      signal,
      createDriver: (steps) =>
        createDriver({
          connection: open,
          steps,
          bounds: tuning.bounds ?? INDEX_BOUNDS,
          compression,
          async write(act) {
            const result = await steps.run(() => open.write(() => pacer.time(act), { signal }))
            checkpointer.runIfLong()
            return result
          },
        }),
    })
  }

  return {
    run: (isEarly = false) => (running = round(isEarly)),
    checkpoint: () => checkpointer.runIfLong(),
    async close() {
      controller.abort()
      await running?.catch(() => {})
      checkpointer.close()
      connection?.database.close()
      connection = undefined
    },
  }
}

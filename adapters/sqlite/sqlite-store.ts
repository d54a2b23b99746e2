import path from 'node:path'
import { AuditLogError, invalidOption } from '../../src/errors.js'
import type { EventDraft } from '../../src/event/event.js'
import { changedStates, updateStateBy } from '../../src/store/states.js'
import {
  QUERY_TIMEOUT_OPTIONS,
  type QueryTimeoutOptions,
  readQueryTimeout,
} from '../../src/store/query-timeout.js'
import { createClockGuard, guardedClock } from '../../src/store/clock-guard.js'
import { readFileMode } from '../../src/store/file-mode.js'
import { readOnlyStore } from '../../src/store/read-only.js'
import type { EventStore } from '../../src/store/store.js'
import { type Clock, type Microseconds, systemClock } from '../../src/event/timestamp.js'
import {
  type Connection,
  type ConnectionOptions,
  createConnection,
} from './connection/connection.js'
import { openDatabase, type SqliteDatabase } from './connection/database.js'
import { loadDriver, type SqliteDriverName } from './connection/driver.js'
import { isFilePath } from './connection/filename.js'
import { readCacheBytes } from './connection/page-cache.js'
import { driverOf, fileOfHandle, type HostDatabase } from './connection/host-handle.js'
import { type Compression, readCompression } from './index/compression.js'
import { DEFAULT_TUNING } from './index/index-state.js'
import { createAppend, createDraftTable } from './write/append.js'
import { rebuildIndex, setDamaged } from '../../src/store-kit/maintenance/repairs.js'
import { DIALECT, runProgram } from './index/dialect.js'
import { createLedger } from './ledger.js'
import { createLogIndex } from './index/log-index.js'
import { createOutbox } from './write/outbox.js'
import { createMaintenance } from './write/maintenance.js'
import { analyzeTables } from './write/analyze.js'
import { importEvents } from './write/import.js'
import { changeLive, closeLive, touchLive } from './write/live.js'
import { removeBefore, removeIds } from './write/remove.js'
import { recordSuppressed, reportSuppressed } from './write/throttles.js'
import { FIRST_PROBE_SIZE } from './read/list.js'
import { createReading, findEvent } from './reading.js'
import { checkSchema, migrate } from './schema/migrate.js'
import { EVENTS_SCHEMA } from './schema/tables.js'
import type { Sealer } from '../../src/store-kit/index-builder/sealer.js'
import { createSqliteSealer, type SealerOptions } from './index/sealer.js'
import { scrub } from './scrub.js'
import { readStateTexts, replaceStates } from './schema/state.js'
import { createTables } from './schema/log-tables.js'
import { createCommitWatcher } from './connection/commit-watcher.js'
import { hasFrames, isLocked, newLockState } from './connection/checkpointer.js'
import { createWalSync, type SyncFile, type WalSyncOptions } from './connection/wal-sync.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

interface CommonOptions extends QueryTimeoutOptions {
  /** The current time in microseconds. @default the system's clock */
  readonly clock?: Clock
  /**
   * Opens an existing file for reading: nothing is created, migrated, moved or indexed, and the file may be
   * write-protected. Methods that write reject with `READ_ONLY`.
   * @default false
   */
  readonly readOnly?: boolean
  /**
   * `'never'`: only a file that has a log of this version is opened; another one throws `SCHEMA_MISMATCH` and is not
   * changed.
   * @default 'auto'
   */
  readonly migrate?: 'auto' | 'never'
  /**
   * The library that runs SQLite. `node:sqlite` needs Node 24. Handles of the host on the same file must be of this
   * library, in the whole process: two libraries cancel each other's locks.
   * @default the library of the handle `database`; better-sqlite3 if it is installed; else `node:sqlite`
   */
  readonly driver?: SqliteDriverName
  /**
   * `'deflate'` compresses the attributes of older events, and the index, in the background: the file takes half of the
   * space, and reading such events up to one and a half times the processor time; searching the texts of an attribute
   * with many values takes three times. Every store reads such a file, whatever its own option; events that were compressed
   * stay so.
   * @default 'none'
   */
  readonly compression?: Compression
  /**
   * Memory that each connection of the store may take for pages of the file, in bytes, 1 MiB or more. The thread that
   * builds the index has a connection of its own while it runs.
   * @default 4194304
   */
  readonly cacheBytes?: number
}

export type SqliteStoreOptions = CommonOptions &
  (
    | {
        /** Path of the file, which is created with its schema if missing. It is switched to WAL mode. */
        readonly filename: string
        /**
         * Permissions of the file, and of `-wal` and `-shm`, if the store creates it; the umask has no effect.
         * A file that exists keeps its own.
         * @default 0o600
         */
        readonly mode?: number
      }
    | {
        /**
         * An open better-sqlite3 handle, or a `DatabaseSync` of `node:sqlite`. The store only reads the name of
         * its file, opens a connection of its own on that file, and does not change its journal mode.
         */
        readonly database: HostDatabase
      }
  )

export const COMMON_OPTIONS: OptionNames<CommonOptions> = {
  ...QUERY_TIMEOUT_OPTIONS,
  clock: true,
  readOnly: true,
  migrate: true,
  driver: true,
  compression: true,
  cacheBytes: true,
}

const STORE_OPTIONS: OptionNames<SqliteStoreOptions> = {
  ...COMMON_OPTIONS,
  filename: true,
  mode: true,
  database: true,
}

// A commit of this many rows blocks the event loop for some milliseconds.
const MAX_BATCH = 500
// How often to check whether the index was built anew.
const REBUILD_CHECK_MS = 50

// How often to look whether the WAL is long, which takes some microseconds.
const WAL_CHECK_MS = 100

type FileOption = Extract<SqliteStoreOptions, { readonly filename: string }>

/** The handle of the host; `undefined` if the store has a file of its own. */
function handleOf(options: SqliteStoreOptions): HostDatabase | undefined {
  const { filename, database } = options as { filename?: string; database?: HostDatabase }
  return filename === undefined ? database : undefined
}

/** Throws `INVALID_OPTION`. */
function checkFilename(filename: unknown): asserts filename is string {
  if (isFilePath(filename)) return
  throw invalidOption(
    'sqliteStore: filename must be the path of a file, or database an open handle; for a log in memory use daybook/memory',
  )
}

function openFile(
  options: SqliteStoreOptions,
  {
    isLockedHere,
    ...syncing
  }: Pick<WalSyncOptions, 'syncFile' | 'onSynced'> & Pick<ConnectionOptions, 'isLockedHere'> = {},
): Connection {
  const { readOnly = false } = options
  const handle = handleOf(options)
  const isOurs = handle === undefined
  const driver = loadDriver(options.driver ?? (handle && driverOf(handle)))
  const filename = isOurs ? (options as FileOption).filename : fileOfHandle(handle, driver)
  checkFilename(filename)
  const prepare = (database: SqliteDatabase): void => {
    if (readOnly || options.migrate === 'never') return checkSchema(database, EVENTS_SCHEMA)
    if (isOurs) {
      // Takes effect only in an empty file; in others it would still need the write lock. Without it the
      // file cannot shrink.
      if (database.pragma('page_count', { simple: true }) === 0)
        database.pragma('auto_vacuum = INCREMENTAL')
      database.pragma('journal_mode = WAL')
    }
    return migrate(database, EVENTS_SCHEMA)
  }
  const mode = readFileMode(isOurs ? (options as FileOption).mode : undefined)
  const cacheBytes = readCacheBytes(options.cacheBytes)
  // Later changes of the working directory must not lead to another file.
  const database = openDatabase(path.resolve(filename), prepare, {
    driver,
    mode,
    mustExist: !isOurs || options.migrate === 'never',
    readOnly,
    cacheBytes,
  })
  // The host may have chosen another journal, which has nothing to sync but the commit itself.
  const isWal = database.pragma('journal_mode', { simple: true }) === 'wal'
  if (isWal) database.pragma('synchronous = NORMAL')
  const sync = isWal
    ? createWalSync(database.name, { mustExist: !readOnly, ...syncing })
    : undefined
  return createConnection(database, driver, { sync, isLockedHere })
}

function openReadOnly(options: SqliteStoreOptions): EventStore {
  const queryTimeoutMs = readQueryTimeout(options)
  const connection = openFile(options)
  const { database } = connection
  const tables = createTables(connection)
  const ledger = createLedger(tables, false)
  const watcher = createCommitWatcher(database)
  const index = createLogIndex(tables, DEFAULT_TUNING)
  const clock = options.clock ?? systemClock()
  return readOnlyStore({
    name: 'sqlite',
    clock,
    ledger,
    ...createReading(
      { tables, index, firstProbe: FIRST_PROBE_SIZE, queryTimeoutMs },
      watcher,
      clock,
    ),
    async close() {
      watcher.stop()
      connection.close()
      await ledger.close()
    },
  })
}

/**
 * Stores events in an SQLite file through better-sqlite3 or `node:sqlite`. Events are durable when `append` resolves; lists may
 * have them some milliseconds before. Any number of processes on one machine can share the file. Opens and migrates the
 * file at once; throws `MISSING_DEPENDENCY`, `INVALID_OPTION`, `SCHEMA_MISMATCH` or `STORE_FAILED` if that fails.
 */
export function sqliteStore(options: SqliteStoreOptions): EventStore {
  requireOptions(options, STORE_OPTIONS, 'sqliteStore')
  return options.readOnly ? openReadOnly(options) : createSqliteStore(options).store
}

/** Settings of tests, beside the options. */
export interface Internals {
  readonly firstProbe?: number
  /** Syncs the `-wal` file. */
  readonly syncFile?: SyncFile
}

/** Returns the store with its sealer, which tests configure and wait for. */
export function createSqliteStore(
  options: SqliteStoreOptions,
  sealing?: Partial<SealerOptions>,
  { firstProbe = FIRST_PROBE_SIZE, syncFile }: Internals = {},
): {
  readonly store: EventStore
  readonly sealer: Sealer
} {
  const givenClock = options.clock ?? systemClock()
  const guard = createClockGuard(givenClock.monotonic)
  const clock = guardedClock(givenClock, guard)
  const queryTimeoutMs = readQueryTimeout(options)
  const compression = readCompression(options.compression)
  const cacheBytes = readCacheBytes(options.cacheBytes)
  let checkedAt = -Infinity
  const onSynced = (fd: number): void => {
    const now = performance.now()
    if (now - checkedAt < WAL_CHECK_MS) return
    checkedAt = now
    if (hasFrames(fd)) sealer.checkpoint()
  }
  const lock = newLockState()
  const isLockedHere = (): boolean => isLocked(lock)
  const connection = openFile(options, { syncFile, onSynced, isLockedHere })
  const { database } = connection
  const write: Connection['write'] = (act, options) => connection.write(act, options)
  const tables = createTables(connection)
  const { events } = tables
  const ledger = createLedger(tables, options.migrate !== 'never')
  let startedAt: Microseconds = 0
  try {
    startedAt = events.highWater()
    guard.begin(startedAt)
  } catch {
    // The file is locked and not in WAL mode, so the clock is not compared with its newest event.
  }
  const outbox = createOutbox(connection)
  const drafts = createDraftTable(tables, outbox, clock)
  const watcher = createCommitWatcher(database)
  const sealer = createSqliteSealer(connection, {
    compression,
    cacheBytes,
    lock,
    ...sealing,
  })
  const index = createLogIndex(tables, sealing?.tuning ?? DEFAULT_TUNING, (segment) => {
    // If that fails, the next query that reads the segment notes it again.
    const noted = write(() => runProgram(connection, setDamaged(DIALECT, segment)), {})
    noted.then(sealer.checkSoon, () => {})
  })
  const maintenance = createMaintenance(tables, outbox, drafts, {
    onVisible: watcher.hint,
    checkIndex: sealer.checkSoon,
  })
  const append = createAppend(tables, drafts, {
    floor: startedAt,
    onStored: sealer.checkSoon,
    onDurable: watcher.hint,
  })

  const updateStates: EventStore['updateStates'] = async (keys, change, options = {}) => {
    const { keepFor } = options
    let before = await connection.retry(() => readStateTexts(connection, keys, clock()), options)
    for (;;) {
      const after = changedStates(before, change, clock())
      // Values that the caller has read must not be taken back either.
      if (after.size === 0) return connection.durableReads(options)
      const found = await write(
        () => replaceStates(connection, { before, after, keepFor }, clock()),
        options,
      )
      if (!found) return
      before = found
    }
  }

  const store: EventStore = {
    name: 'sqlite',
    tuning: { maxBatch: MAX_BATCH, appendsText: true },
    clock,
    ledger,
    ...createReading({ tables, index, firstProbe, queryTimeoutMs }, watcher, clock),

    append,

    async enlist(draft, transaction, options = {}) {
      if (!database.open) throw new AuditLogError('CLOSED', 'the SQLite store is closed')
      connection.checkFile()
      await outbox.enlist(draft, transaction, clock(), options)
    },

    importEvents: async (imported, options = {}) =>
      write(() => importEvents(tables, imported, clock()), options),
    removeBefore: async (time, options = {}) => removeBefore(connection, time, options),
    remove: async (ids, options = {}) => removeIds(connection, ids, options),
    reportSuppressed: async (report, options = {}) =>
      write(() => reportSuppressed(connection, report, clock()), options),

    async recordSuppressed(draftOf, options = {}) {
      const parts = { connection, clock }
      const insert = (draft: EventDraft): void => drafts.insertOne(draft)
      const recorded = await recordSuppressed(parts, draftOf, insert, options)
      if (recorded > 0) watcher.hint()
      return recorded
    },
    updateStates,
    updateState: updateStateBy(updateStates),

    async changeLive(id, change, options = {}) {
      const isOpen = await write(() => changeLive(tables, id, change), options)
      watcher.hint()
      return isOpen
    },

    touchLive: async (ids, options = {}) => write(() => touchLive(connection, ids), options),

    async closeLive(id, change, options = {}) {
      await write(() => closeLive(tables, id, change), options)
      watcher.hint()
      return connection.retry(() => findEvent(tables, id), {})
    },

    async rebuildIndex({ signal, onProgress } = {}) {
      const parts: Parameters<typeof rebuildIndex>[0] = {
        dialect: DIALECT,
        read: (program) => connection.retry(() => runProgram(connection, program()), { signal }),
        write: (program) => write(() => runProgram(connection, program()), { signal }),
      }
      const pause = (): Promise<void> => {
        sealer.checkSoon()
        return connection.pause({ signal }, REBUILD_CHECK_MS)
      }
      await rebuildIndex(parts, pause, onProgress)
    },

    analyze: async (options = {}) => analyzeTables(connection, options),
    scrub: async (options = {}) => scrub({ connection, clock, wake: sealer.checkSoon }, options),

    watchClock: (handler) => guard.watch(handler),
    highWaterAtStart: () => guard.atStart(),
    acceptClock: () => guard.accept(),

    async close() {
      if (database.open) {
        maintenance.stop()
        watcher.stop()
        // It may be long before another process opens the file. If this fails, that process moves them. No caller waits until
        // they are durable.
        void maintenance.moveOutbox().catch(() => {})
        connection.close()
      }
      await Promise.all([sealer.close(), ledger.close()])
    },
  }
  return { store, sealer }
}

import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError, throwIfAborted, untilAborted } from '../../src/errors.js'
import { createIntervalLoop } from '../../src/async/loops.js'
import { timeoutSignal } from '../../src/async/timeout-signal.js'
import { TIMES } from '../../src/coordination/times.js'
import { updateStateBy } from '../../src/store/states.js'
import { createClockGuard, guardedClock } from '../../src/store/clock-guard.js'
import { readOnlyStore } from '../../src/store/read-only.js'
import type { EventStore } from '../../src/store/store.js'
import { systemClock } from '../../src/event/timestamp.js'
import { analyzeTables } from './write/analyze.js'
import { scrub } from './scrub.js'
import { readWithRetry, rejecting, withoutTimeLimit, withRetry } from './log/calls.js'
import { ask } from './connection/client.js'
import { createFollower } from './log/follower.js'
import { createLedger, type LedgerContext } from './ledger.js'
import { importEvents } from './write/import.js'
import { rebuildIndex, setDamaged } from '../../src/store-kit/maintenance/repairs.js'
import { askProgram, changeIndex, dialectOf } from './index/dialect.js'
import { type BackpressureOptions, createBackpressure } from './index/backpressure.js'
import { createPostgresSealer, type PostgresSealer, type SealerOptions } from './index/sealer.js'
import { DEFAULT_TUNING } from './index/index-state.js'
import { changeLive, closeLive, touchLive } from './write/live.js'
import { createListening, type Listening } from './log/listening.js'
import { createLog, type LogOptions } from './log/log.js'
import type { UsedSchemas } from './connection/used-schemas.js'
import { createReading, type ReadingOptions } from './reading.js'
import { namesIn } from './schema/names.js'
import { createPlacedListening, openPlacedLog } from './log/placed-log.js'
import {
  checkStoreOptions,
  type PostgresStoreOptions,
  readOptions,
  type ResolvedOptions,
  type Server,
} from './log/options.js'
import { checkClient, putInOutbox } from './write/outbox.js'
import type { OwnWrites } from './log/replica.js'
import { readRange, removableRanges, removeRange } from './write/event-ranges.js'
import { removeBefore, removeIds } from './write/remove.js'
import { FIRST_PROBE_SIZE } from './read/ranges.js'
import { createAbandonedClosing } from './write/liveness.js'
import { updateStates as updateStatesOf } from './schema/state.js'
import { reportSuppressed, recordSuppressed } from './write/throttles.js'
import { createWriter } from './write/writer.js'

// A batch of this size holds the lock for some milliseconds.
const MAX_BATCH = 500
// Maximum time that a write waits for the index: an index that is being built grows within it.
const MAX_WAIT_MS = 5000
// How often to check whether the index was built anew.
const REBUILD_CHECK_MS = 200

/**
 * A store in a Postgres database (14 or newer, UTF8) through pg, for any number of processes. Events
 * are durable when `append` resolves, whatever the server's default of `synchronous_commit`. The first
 * call connects and creates or migrates the schema; for that the role needs CREATE on the database, or
 * on the schema if it exists. While the server is away, refuses writes or is out of space, `append`
 * retries until its signal aborts. While the server is away, a query retries until `queryTimeoutMs` is over.
 * If `enlist` is the first call, it waits for the schema. Throws `MISSING_DEPENDENCY` or `INVALID_OPTION`.
 */
export function postgresStore(options: PostgresStoreOptions): EventStore {
  checkStoreOptions(options)
  return openPostgresStore(options)
}

/** Parts that the stores of several logs on one server share. */
export interface SharedParts extends Partial<Pick<Server, 'timelines' | 'findPrimary' | 'nodes'>> {
  readonly listening?: Listening
  readonly usedSchemas?: UsedSchemas
}

/** The parts of a store. Those that logs share are in place of its own. */
function openParts(
  options: PostgresStoreOptions,
  shared: SharedParts,
  ofLog: Partial<Omit<LogOptions, keyof ResolvedOptions>>,
) {
  const own = readOptions(options)
  const { timelines = own.timelines, findPrimary = own.findPrimary } = shared
  const { nodes = own.nodes, listening: sharedListening, usedSchemas } = shared
  const resolved = { ...own, timelines, findPrimary, usedSchemas, ...(nodes && { nodes }) }
  const names = namesIn(options.schema ?? 'daybook')
  const pool = openPlacedLog(resolved, names, options)
  const atEntry = sharedListening ?? createListening(own.sessionPool ?? own.pool, timelines)
  const listening = createPlacedListening(pool, { entry: own.pool, atEntry, timelines })
  const opened = { ...resolved, clock: options.clock, names, pool }
  const log = createLog({ ...opened, sessions: listening, ...ofLog })
  const follower = createFollower(log, listening, own.replicas)
  let closed: Promise<void> | undefined
  const check = (signal: AbortSignal | undefined): void => {
    if (closed) throw new AuditLogError('CLOSED', 'the Postgres store is closed')
    throwIfAborted(signal)
  }
  return {
    ...opened,
    log,
    follower,
    /** Throws `CLOSED`, and `ABORTED` if the signal has aborted. */
    check,
    watch: (hint: () => void) => {
      check(undefined)
      return follower.watch(hint)
    },
    /** Closes the store once. */
    close: (act: () => Promise<void>): Promise<void> => (closed ??= act()),
  }
}

/** The ledger of the store; none on Citus. */
const ledgerOf = (
  { citus, log, check }: ReturnType<typeof openParts>,
  rights: Pick<LedgerContext, 'isReadOnly' | 'isFixed'>,
): Pick<EventStore, 'ledger'> => (citus ? {} : { ledger: createLedger({ log, check, ...rights }) })

export const openPostgresStore = (
  options: PostgresStoreOptions,
  shared: SharedParts = {},
): EventStore =>
  options.readOnly
    ? openReadOnly(options, shared)
    : createPostgresStore(options, {}, {}, shared).store

function openReadOnly(options: PostgresStoreOptions, shared: SharedParts): EventStore {
  const opened = openParts(options, shared, { readOnly: true })
  const { clock, log, follower, watch } = opened
  const { closeReading, ...reading } = createReading(log, {
    ...opened,
    tuning: DEFAULT_TUNING,
    firstProbe: FIRST_PROBE_SIZE,
    own: { appended: 0, walPosition: undefined },
    onListed() {},
    onDamaged() {},
  })
  return readOnlyStore({
    name: 'postgres',
    clock,
    ...ledgerOf(opened, { isReadOnly: true, isFixed: true }),
    ...reading,
    watch,
    close: () =>
      opened.close(() => {
        closeReading()
        return follower.close().then(opened.end)
      }),
  })
}

type ReadingTuning = Partial<Pick<ReadingOptions, 'firstProbe' | 'minIndexed' | 'chunkBytes'>>

/** The store and the builder of its index, with settings that tests change. */
export function createPostgresStore(
  options: PostgresStoreOptions,
  sealing: Partial<SealerOptions & Pick<BackpressureOptions, 'maxWaitMs'>> = {},
  { firstProbe = FIRST_PROBE_SIZE, ...reads }: ReadingTuning = {},
  shared: SharedParts = {},
): { readonly store: EventStore; readonly sealer: PostgresSealer } {
  const { tuning = DEFAULT_TUNING, maxWaitMs = MAX_WAIT_MS } = sealing
  const processTime = options.clock ?? systemClock()
  const isFixed = options.migrate === 'never'
  const guard = createClockGuard(processTime.monotonic)
  const clock = options.clock && guardedClock(options.clock, guard)
  const processClock = clock ?? guardedClock(processTime, createClockGuard(processTime.monotonic))
  const own: OwnWrites = { appended: 0, walPosition: undefined }
  const opened = openParts(options, shared, {
    clock,
    guard,
    isFixed,
    acknowledged: () => own.appended,
    onPrepared(state) {
      writer.adopt(state)
      // Replicas need not wait for what the server has lost.
      own.appended = Math.min(own.appended, state.highWater)
    },
  })
  const { names, log, follower, check, watch, replicas, queryTimeoutMs } = opened
  const { maxUnindexed = opened.maxUnindexed } = sealing
  const dialect = dialectOf(names)
  const sealer = createPostgresSealer(log, { maxUnindexed, ...sealing })
  const pressure =
    maxUnindexed === Infinity
      ? undefined
      : createBackpressure(log, { maxUnindexed, maxWaitMs, build: sealer.checkSoon })
  const onVisible = (events: number, hasListeners: boolean): void => {
    pressure?.added(events)
    follower.notify(hasListeners)
  }
  const writer = createWriter(log, onVisible, pressure?.ready)
  const closeAbandoned = createAbandonedClosing(log, follower.notify)
  const abandonedChecks = createIntervalLoop(closeAbandoned, TIMES.work.everyMs)
  abandonedChecks.start()
  const closing = new AbortController()

  let preparing: Promise<void> | undefined
  /** Shared by all waiting calls, which then continue in their order. */
  const prepare = async (): Promise<void> => {
    using wait = timeoutSignal(queryTimeoutMs)
    await log.use(wait.signal, () => Promise.resolve())
  }

  /** From now on replicas answer this process only if they have replayed the present state of the primary. */
  const noteOwnWrite = async (signal: AbortSignal | undefined): Promise<void> => {
    if (replicas.all.length === 0) return
    const [row] = await readWithRetry(log, signal, (client) =>
      ask(client, 'SELECT pg_current_wal_lsn()'),
    )
    own.walPosition = row![0]!
  }

  const noteDamaged = (segment: number): void => {
    const noted = withRetry(log, closing.signal, (client) =>
      changeIndex(client, setDamaged(dialect, segment)),
    )
    // If that fails, the next process that reads the segment notes it again.
    noted.then(
      () => sealer.checkSoon(),
      () => {},
    )
  }

  /** Wakes the builder of the index, and waits a little. */
  const wakeSealer = async (signal: AbortSignal | undefined): Promise<void> => {
    check(signal)
    sealer.checkSoon()
    await delay(REBUILD_CHECK_MS, undefined, { signal }).catch(() => throwIfAborted(signal))
  }

  const updateStates: EventStore['updateStates'] = async (keys, change, options = {}) => {
    const { signal, keepFor } = options
    check(signal)
    let isWritten = false
    const onWrite = (): void => void (isWritten = true)
    await withRetry(
      log,
      signal,
      (client) => updateStatesOf(client, names, { keys, change, clock, keepFor, onWrite }),
      () => !isWritten,
    )
  }

  const { closeReading, ...reading } = createReading(log, {
    ...opened,
    clock,
    tuning,
    firstProbe,
    ...reads,
    own,
    onListed: sealer.checkEventually,
    onDamaged: noteDamaged,
    indexDelay: pressure,
  })

  const store: EventStore = {
    name: 'postgres',
    tuning: { maxBatch: MAX_BATCH, appendsInBackground: true },
    clock,
    ...ledgerOf(opened, { isReadOnly: false, isFixed }),
    ...reading,

    async append(drafts, options = {}) {
      check(options.signal)
      if (drafts.length === 0) return []
      const { stored, suppressed } = await writer.append(drafts, options)
      own.appended = stored.reduce((newest, { time }) => Math.max(newest, time), own.appended)
      sealer.checkSoon(true)
      for (const { draft, opensIn } of suppressed) options.onSuppressed?.(draft, opensIn)
      return stored.map(({ event }) => event)
    },

    async enlist(draft, transaction, { signal } = {}) {
      check(signal)
      checkClient(transaction)
      if (!log.state()) {
        preparing ??= prepare().finally(() => (preparing = undefined))
        await rejecting(untilAborted(preparing, signal), signal)
      }
      await putInOutbox(transaction, log, draft, processClock())
    },

    async importEvents(events, { signal } = {}) {
      check(signal)
      if (events.length === 0) return { imported: 0, skipped: 0 }
      await pressure?.ready(signal)
      const result = await importEvents(log, events, signal)
      pressure?.added(result.imported)
      sealer.checkSoon(true)
      if (result.imported > 0) await noteOwnWrite(signal)
      return result
    },

    async removeBefore(time, { signal, onProgress } = {}) {
      check(signal)
      return withoutTimeLimit(signal, (waiting) => removeBefore(log, time, waiting, onProgress))
    },

    async removableRanges(time, { signal, snapshot } = {}) {
      check(signal)
      return withoutTimeLimit(signal, (waiting) => removableRanges(log, time, snapshot, waiting))
    },

    async readRange(range, { signal, ...options }) {
      check(signal)
      return withoutTimeLimit(signal, (waiting) => readRange(log, range, options, waiting))
    },

    async removeRange(range, { signal, snapshot }) {
      check(signal)
      return withoutTimeLimit(signal, (waiting) => removeRange(log, range, snapshot, waiting))
    },

    async remove(ids, { signal } = {}) {
      check(signal)
      return withoutTimeLimit(signal, (waiting) => removeIds(log, ids, waiting))
    },

    async reportSuppressed(report, { signal } = {}) {
      check(signal)
      await withRetry(log, signal, (client) => reportSuppressed(client, log, report))
    },

    async recordSuppressed(draftOf, { signal } = {}) {
      check(signal)
      const recorded = await withRetry(log, signal, (client) =>
        recordSuppressed(client, log, draftOf),
      )
      // A failure to move it is harmless: the outbox is moved later.
      if (recorded > 0) await writer.move(signal).catch(() => {})
      return recorded
    },

    updateStates,
    updateState: updateStateBy(updateStates),

    async changeLive(id, change, { signal } = {}) {
      check(signal)
      const isOpen = await withRetry(log, signal, (client) => changeLive(client, log, id, change))
      await noteOwnWrite(signal)
      follower.notify()
      return isOpen
    },

    async touchLive(ids, { signal } = {}) {
      check(signal)
      await withRetry(log, signal, (client) => touchLive(client, log, ids))
    },

    async closeLive(id, change, { signal } = {}) {
      check(signal)
      const event = await withRetry(log, signal, (client) => closeLive(client, log, id, change))
      sealer.checkSoon(true)
      await noteOwnWrite(signal)
      follower.notify()
      return event
    },

    async rebuildIndex({ signal, onProgress } = {}) {
      check(signal)
      const parts: Parameters<typeof rebuildIndex>[0] = {
        dialect,
        read: (program) => readWithRetry(log, signal, (client) => askProgram(client, program())),
        write: (program) => withRetry(log, signal, (client) => askProgram(client, program())),
      }
      await rebuildIndex(parts, () => wakeSealer(signal), onProgress)
    },

    async scrub(options = {}) {
      check(options.signal)
      return scrub({ log, pause: () => wakeSealer(options.signal) }, options)
    },

    async analyze({ signal } = {}) {
      check(signal)
      return withoutTimeLimit(signal, (waiting) =>
        log.useSession(waiting, (client) => analyzeTables(client, log, waiting)),
      )
    },

    watch,

    watchClock: (handler) => guard.watch(handler),
    highWaterAtStart: () => guard.atStart(),
    acceptClock: () => guard.accept(),

    close: () =>
      opened.close(async () => {
        closing.abort()
        closeReading()
        const notified = follower.close()
        abandonedChecks.pause()
        await writer.close()
        await sealer.close()
        await notified
        await opened.end()
      }),
  }
  return { store, sealer }
}

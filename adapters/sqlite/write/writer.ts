import type { EventDraft, ImportedEvent } from '../../../src/event/event.js'
import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import type { Heartbeat } from '../../../src/coordination/heartbeats.js'
import type { StateTexts } from '../../../src/store/states.js'
import type {
  Analysis,
  ImportResult,
  LiveChange,
  SuppressedCount,
  SuppressedReport,
} from '../../../src/store/store.js'
import { type Connection, storeFailure, type WriteOptions } from '../connection/connection.js'
import { emptyWal } from '../connection/disk-failure.js'
import { releaseSomePages } from '../connection/free-pages.js'
import { requestRebuild, setDamaged } from '../../../src/store-kit/maintenance/repairs.js'
import { DIALECT, runProgram } from '../index/dialect.js'
import { replaceStates, type StatesChange } from '../schema/state.js'
import type { Tables } from '../schema/tables.js'
import { analyzeTables } from './analyze.js'
import type { DraftTable } from './append.js'
import { importEvents } from './import.js'
import type { Outbox } from './outbox.js'
import { type IdSlice, removeSomeBefore, removeSomeIds, type Slice } from './remove.js'

/**
 * The writes of a store, each in one transaction unless it says otherwise. They resolve once they are durable, and reject as
 * the methods of `EventStore` do.
 */
export interface Writer {
  importEvents(events: readonly ImportedEvent[], options: WriteOptions): Promise<ImportResult>
  /** Removes some of the events before `time`. */
  removeBefore(time: Microseconds, options: WriteOptions): Promise<Slice>
  /** Removes some of the events with these ids. */
  removeIds(ids: readonly string[], options: WriteOptions): Promise<IdSlice>
  /** Returns some of the free pages to the file system; true if there are more. */
  releasePages(options: WriteOptions): Promise<boolean>
  /** Moves the content of the WAL to the file, and truncates both. */
  checkpoint(options: WriteOptions): Promise<void>
  reportSuppressed(report: SuppressedReport, options: WriteOptions): Promise<void>
  /** Stores the draft and clears these counts. Returns false if the counts have changed. */
  recordSuppressed(record: SuppressedRecord, options: WriteOptions): Promise<boolean>
  /** Returns the stored values if they differ from `before`; nothing was written then. */
  replaceStates(change: StatesChange, options: WriteOptions): Promise<StateTexts | undefined>
  /** False if the event is not open. */
  changeLive(change: LiveChangeOf, options: WriteOptions): Promise<boolean>
  touchLive(ids: readonly string[], options: WriteOptions): Promise<void>
  closeLive(change: LiveChangeOf, options: WriteOptions): Promise<void>
  /** Closes the open events whose heartbeats have not changed. Does not wait for a lock. */
  closeAbandoned(abandoned: readonly Heartbeat[]): Promise<void>
  /** Stores some drafts of the outbox. Does not wait for a lock. */
  moveOutbox(): Promise<void>
  setDamaged(segment: number): Promise<void>
  requestRebuild(options: WriteOptions): Promise<void>
  /** See `EventStore.analyze`; one transaction for each table. */
  analyze(options: WriteOptions): Promise<Analysis>
}

export interface LiveChangeOf {
  readonly id: string
  readonly change: LiveChange
}

export interface SuppressedRecord {
  readonly counts: readonly SuppressedCount[]
  /** `undefined` if there are no counts. */
  readonly draft: EventDraft | undefined
}

/** How long the truncation of the WAL waits for other connections, which may read for longer. */
const TRUNCATE_MS = 1000

/** Writes on the connection of the tables. */
export function createWriter(
  tables: Tables,
  outbox: Outbox,
  drafts: DraftTable,
  clock: Clock,
): Writer {
  const { connection, live, throttles } = tables
  const { database } = connection
  const write: Connection['write'] = (act, options) => connection.write(act, options)

  const tryOnce = async (act: () => void): Promise<void> => {
    try {
      act()
    } catch (error) {
      throw storeFailure(error)
    }
    await connection.durable({})
  }

  return {
    importEvents: (events, options) => write(() => importEvents(tables, events, clock()), options),
    removeBefore: (time, options) => write(() => removeSomeBefore(connection, time), options),
    removeIds: (ids, options) => write(() => removeSomeIds(connection, ids), options),
    releasePages: (options) => write(() => releaseSomePages(connection), options),
    async checkpoint(options) {
      const deadline = Math.min(options.deadline ?? Infinity, performance.now() + TRUNCATE_MS)
      await connection.retry(() => emptyWal(database), { ...options, deadline })
    },
    reportSuppressed: (report, options) => write(() => throttles.report(report, clock()), options),
    recordSuppressed: ({ counts, draft }, options) =>
      write(() => {
        if (!throttles.areCurrent(counts)) return false
        if (draft) drafts.insertOne(draft)
        throttles.clear(counts)
        throttles.prune(clock())
        return true
      }, options),
    replaceStates: (change, options) =>
      write(() => replaceStates(connection, change, clock()), options),
    changeLive: ({ id, change }, options) => write(() => live.change(id, change), options),
    touchLive: (ids, options) => write(() => live.touch(ids), options),
    closeLive: ({ id, change }, options) =>
      write(() => {
        if (live.change(id, change)) live.close(id)
      }, options),
    closeAbandoned: (abandoned) =>
      tryOnce(() =>
        connection.tryWrite(() => {
          // A heartbeat may have come since the check.
          const current = new Map(live.heartbeats().map((one) => [one.id, one.heartbeats]))
          for (const { id, heartbeats } of abandoned)
            if (current.get(id) === heartbeats) live.close(id, { unfinished: true })
        }),
      ),
    async moveOutbox() {
      if (outbox.hasDrafts()) await tryOnce(() => void connection.tryWrite(() => drafts.insert([])))
    },
    setDamaged: (segment) =>
      write(() => void runProgram(connection, setDamaged(DIALECT, segment)), {}),
    requestRebuild: (options) =>
      write(() => runProgram(connection, requestRebuild(DIALECT)), options),
    analyze: (options) => analyzeTables(connection, options),
  }
}

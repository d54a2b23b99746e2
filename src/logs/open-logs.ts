import { createOneTimer } from '../async/timers.js'
import { AuditLogError } from '../errors.js'
import type { EventStore } from '../store/store.js'
import { checkKey, type LogStores } from '../store/log-stores.js'
import { ReopenedStore } from './reopened-store.js'

/** Something that can be closed. */
export interface Closable {
  close(): Promise<void>
}

/** A log of this process. */
interface Entry<Log> {
  readonly key: string
  readonly log: Log
  readonly stored: ReopenedStore
  /** The deliveries of the log while its store is open. */
  background: Closable | undefined
  /** Number of tasks that work on it in the background. */
  tasks: number
  /** Set while the log is being closed. */
  releasing: Promise<void> | undefined
}

const isInUse = ({ stored, tasks }: Entry<unknown>): boolean => tasks > 0 || stored.isInUse()

export interface OpenLogsOptions<Log> {
  readonly stores: LogStores
  /** Beyond this number, logs that are not in use are closed, the least recently used first. */
  readonly maxOpen: number
  /** A log that is not in use for this long is closed. */
  readonly idleMs: number
  /** Creates the object of a log. `store` stays usable. Closing `store` ends the log. */
  readonly create: (key: string, store: EventStore) => Log
  /** True if a log is kept in memory even if nothing refers to it. */
  readonly keepsAll: boolean
  /** Starts the background work of an open log. */
  readonly startBackground: (key: string, store: EventStore) => Closable | undefined
}

/** Number of checks for idle logs within `idleMs`. */
const CHECKS = 4

/** The logs of a process. Only logs in use are open. */
export class OpenLogs<Log extends Closable> {
  readonly #options: OpenLogsOptions<Log>
  /** All logs that are in memory. This map does not keep a closed log in memory. */
  readonly #known = new Map<string, WeakRef<Entry<Log>>>()
  readonly #kept = new Set<Entry<Log>>()
  /** The open logs, the least recently used first. */
  readonly #open = new Set<Entry<Log>>()
  readonly #forgotten = new FinalizationRegistry<string>((key) => {
    if (!this.#known.get(key)?.deref()) this.#known.delete(key)
  })
  #isClosed = false
  /** One timer for all logs. */
  readonly #timer = createOneTimer(() => this.#look())

  constructor(options: OpenLogsOptions<Log>) {
    this.#options = options
  }

  /** Number of open logs. */
  get openCount(): number {
    return this.#open.size
  }

  /**
   * Returns the log with this key. Returns the same object while anything refers to it. Throws errors of opening the
   * store, and `CLOSED`.
   */
  get(key: string): Log {
    const { log, stored } = this.#entryOf(key)
    stored.noteUse()
    return log
  }

  /**
   * Opens the log and calls `work` with its store. This does not count as use. Afterwards closes the log if nothing
   * uses it.
   */
  async inBackground(key: string, work: (store: EventStore) => Promise<void>): Promise<void> {
    const entry = this.#entryOf(key)
    const { stored } = entry
    entry.tasks += 1
    try {
      stored.open()
      await work(stored.background)
    } finally {
      entry.tasks -= 1
      const isIdle = performance.now() - stored.lastUsed() >= this.#options.idleMs
      if (stored.isOpen() && isIdle && !isInUse(entry)) await this.#release(entry)
    }
  }

  /** Closes all logs after the calls in progress. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer.clear()
    const entries = new Set(this.#kept)
    for (const reference of this.#known.values()) {
      const entry = reference.deref()
      if (entry) entries.add(entry)
    }
    await Promise.allSettled(
      Array.from(entries, async (entry) => {
        await entry.releasing
        await entry.background?.close()
        await entry.log.close()
      }),
    )
  }

  #entryOf(key: string): Entry<Log> {
    checkKey(key)
    if (this.#isClosed) throw new AuditLogError('CLOSED', 'the audit logs are closed')
    return this.#known.get(key)?.deref() ?? this.#add(key)
  }

  #add(key: string): Entry<Log> {
    const { stores, create, keepsAll } = this.#options
    let entry: Entry<Log> | undefined
    const stored = new ReopenedStore({
      key,
      open: () => stores.open(key),
      onOpened: () => entry && this.#onOpened(entry),
      onUsed: () => {
        if (entry && this.#open.delete(entry)) this.#open.add(entry)
      },
      onClosed: () => entry && this.#onClosed(entry),
    })
    const log = create(key, stored.store)
    entry = { key, log, stored, background: undefined, tasks: 0, releasing: undefined }
    this.#known.set(key, new WeakRef(entry))
    this.#forgotten.register(entry, key)
    if (keepsAll) this.#kept.add(entry)
    this.#onOpened(entry)
    return entry
  }

  #onOpened(entry: Entry<Log>): void {
    this.#open.add(entry)
    this.#begin(entry)
    this.#makeRoom()
    this.#watchIdle()
  }

  #onClosed(entry: Entry<Log>): void {
    this.#open.delete(entry)
    this.#kept.delete(entry)
    if (this.#known.get(entry.key)?.deref() === entry) this.#known.delete(entry.key)
  }

  #begin(entry: Entry<Log>): void {
    if (this.#isClosed) return
    entry.background ??= this.#options.startBackground(entry.key, entry.stored.background)
  }

  /** Closes the store unless it is used again before. */
  #release(entry: Entry<Log>): Promise<void> {
    const end = async (): Promise<void> => {
      const { stored, background } = entry
      entry.background = undefined
      await background?.close()
      await stored.beforeRelease()
      if (isInUse(entry)) return this.#begin(entry)
      this.#open.delete(entry)
      return stored.release()
    }
    entry.releasing ??= end()
      .catch(() => {})
      .finally(() => (entry.releasing = undefined))
    return entry.releasing
  }

  /** The least recently used logs come first. */
  #makeRoom(): void {
    let excess = this.#open.size - this.#options.maxOpen
    for (const entry of this.#open) {
      if (excess <= 0) return
      if (isInUse(entry)) continue
      excess -= 1
      void this.#release(entry)
    }
  }

  #watchIdle(): void {
    if (this.#open.size === 0 || this.#isClosed) return
    this.#timer.watch(performance.now() + this.#options.idleMs / CHECKS)
  }

  #look(): void {
    const end = performance.now() - this.#options.idleMs
    for (const entry of this.#open)
      if (!isInUse(entry) && entry.stored.lastUsed() <= end) void this.#release(entry)
      else entry.stored.look()
    this.#watchIdle()
  }
}

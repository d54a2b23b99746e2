import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../../src/errors.js'
import {
  type AuditEvent,
  type EventDraft,
  type ImportedEvent,
  stampDraft,
} from '../../src/event.js'
import { parseEventId } from '../../src/event-id.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import type { Sql } from '../../src/filter/sql.js'
import { freshEvents } from '../../src/importing.js'
import type {
  AppendOptions,
  EventPage,
  EventStore,
  ImportResult,
  WaitOptions,
} from '../../src/store.js'
import { type Clock, type Microseconds, systemClock } from '../../src/timestamp.js'
import { type Connection, createConnection } from './connection.js'
import { isBusy, openDatabase, type SqliteDatabase } from './database.js'
import { narrowAttribute } from './narrow.js'
import { narrowWhere } from './narrow-where.js'
import { createOutbox, MAX_MOVED, type Outbox, withOccurredAt } from './outbox.js'
import { removeBefore } from './remove.js'
import { EVENT_COLUMNS, type EventRow, rowToEvent } from './rows.js'
import { migrate } from './schema.js'
import { createWatch, type Watch } from './watch.js'

interface CommonOptions {
  /** The present time in microseconds. @default the system's clock */
  readonly clock?: Clock
}

export type SqliteStoreOptions = CommonOptions &
  (
    | {
        /** Path of the file; made, with its schema, where there is none. Switched to WAL. */
        readonly filename: string
      }
    | {
        /**
         * An open better-sqlite3 handle of the host's, of which only the file's name is taken: the
         * store opens a connection of its own on it, and leaves the journal mode as it is.
         */
        readonly database: SqliteDatabase
      }
  )

// A commit of so many rows keeps the event loop for some milliseconds.
const MAX_BATCH = 500
// Rows that a scan looks at before the event loop gets a turn.
const FIRST_SLICE = 256
const MAX_SLICE = 4096
// What committed transactions of hosts have left in the outbox waits no longer for an append.
const POLL_MS = 1000
// So long where the file is locked just then.
const LOCKED_POLL_MS = 50

/**
 * Keeps events in an SQLite file through better-sqlite3: durable (`synchronous=FULL`) when `append`
 * resolves, shared by any number of processes on one machine. Opens and migrates the file at once,
 * and throws `MISSING_DEPENDENCY`, `INVALID_OPTION` or `STORE_FAILED` where it cannot.
 */
export function sqliteStore(options: SqliteStoreOptions): EventStore {
  return new SqliteStore(options)
}

class SqliteStore implements EventStore {
  readonly name = 'sqlite'
  readonly maxBatch = MAX_BATCH
  readonly #connection: Connection
  readonly #outbox: Outbox
  readonly #watch: Watch
  readonly #clock: Clock
  #poll: NodeJS.Timeout | undefined

  constructor(options: SqliteStoreOptions) {
    this.#clock = options.clock ?? systemClock()
    const isOurs = 'filename' in options
    const filename = isOurs ? options.filename : options.database.name
    if (typeof filename !== 'string' || filename === '' || filename === ':memory:') {
      throw new AuditLogError(
        'INVALID_OPTION',
        'the SQLite store needs the name of a file; for a log in memory there is daybook/memory',
      )
    }
    const database = openDatabase(filename, (database) => {
      if (isOurs) {
        // Takes effect only before the first table: later the file could never shrink.
        database.pragma('auto_vacuum = INCREMENTAL')
        database.pragma('journal_mode = WAL')
      }
      migrate(database)
    })
    this.#connection = createConnection(database)
    this.#outbox = createOutbox(this.#connection)
    this.#watch = createWatch(database)
    this.#schedulePoll(POLL_MS)
  }

  async append(
    drafts: readonly EventDraft[],
    options: AppendOptions = {},
  ): Promise<readonly AuditEvent[]> {
    if (this.#connection.isContended()) await this.#connection.gap(options)
    for (;;) {
      const events = await this.#connection.write(() => this.#keep(drafts), options)
      this.#watch.hint()
      if (events) return events
      await nextTurn()
    }
  }

  async enlist(draft: EventDraft, transaction: object, options: WaitOptions = {}): Promise<void> {
    if (!this.#connection.database.open)
      throw new AuditLogError('CLOSED', 'the SQLite store is closed')
    this.#outbox.enlist(draft, transaction, this.#clock(), options)
  }

  async importEvents(
    events: readonly ImportedEvent[],
    options: WaitOptions = {},
  ): Promise<ImportResult> {
    return this.#connection.write(() => {
      const fresh = freshEvents(events, this.#clock(), {
        at: (time) => {
          const row = this.#rowAt(time)
          return row && { event: rowToEvent(row), json: row.attributes }
        },
        hasId: (id) => this.#find(id) !== undefined,
      })
      let highWater = this.#highWater()
      for (const event of fresh) {
        this.#insertImported(event)
        highWater = Math.max(highWater, event.time)
      }
      this.#setHighWater(highWater)
      return { imported: fresh.length, skipped: events.length - fresh.length }
    }, options)
  }

  async get(id: string, options: WaitOptions = {}): Promise<AuditEvent | undefined> {
    const row = await this.#connection.retry(() => this.#find(id), options)
    return row && rowToEvent(row)
  }

  async list(query: EventQuery, options: WaitOptions = {}): Promise<EventPage> {
    const retry = <Result>(act: () => Result): Promise<Result> =>
      this.#connection.retry(act, options)
    const matches = compileFilter(query.where)
    const collector = pageCollector(query)
    const scan = sliceQuery(collector.direction, narrowWhere(query.where, narrowAttribute))
    // What becomes visible later is not part of this answer.
    let rest = await retry(() => this.#clamp(timeBounds(query.where)))
    for (let size = FIRST_SLICE; rest.from <= rest.to; size = Math.min(size * 4, MAX_SLICE)) {
      const slice = await retry(() => {
        const taken = this.#slice(rest, collector.direction, size)
        const rows = this.#connection
          .statement(scan.text)
          .iterate(taken.from, taken.to, ...scan.params)
        for (const row of rows as IterableIterator<EventRow>) {
          const event = rowToEvent(row)
          if (matches(event) && collector.add(event)) return undefined
        }
        return taken
      })
      if (!slice) break
      rest =
        collector.direction === 'desc'
          ? { from: rest.from, to: slice.from - 1 }
          : { from: slice.to + 1, to: rest.to }
      if (rest.from <= rest.to) await nextTurn()
    }
    return collector.page()
  }

  removeBefore(time: Microseconds, options: WaitOptions = {}): Promise<number> {
    return removeBefore(this.#connection, time, options)
  }

  watch(hint: () => void): () => void {
    return this.#watch.add(hint)
  }

  async close(): Promise<void> {
    const { database } = this.#connection
    if (!database.open) return
    clearTimeout(this.#poll)
    this.#watch.stop()
    try {
      // The next one to open the file may be long in coming.
      this.#moveSome()
    } catch {
      // Then it is for that one.
    }
    database.close()
  }

  /**
   * Gives the drafts their place in time, after all of the outbox. Where that is too much for one
   * transaction, only its oldest are given theirs, and `undefined` is returned.
   */
  #keep(drafts: readonly EventDraft[]): readonly AuditEvent[] | undefined {
    const moved = this.#outbox.take()
    const isFull = moved.length === MAX_MOVED
    const kept = isFull ? [] : drafts
    const count = moved.length + kept.length
    let time = Math.max(this.#highWater(), this.#clock() - count)
    const insert = this.#connection.statement(INSERT)
    for (const row of moved) {
      const { tail, type, username, source, system } = row
      time += 1
      insert.run(time, tail, type, username, source, system, withOccurredAt(row, time))
    }
    const events = kept.map((draft) => {
      const { tail, type, username, source, system, json } = draft
      time += 1
      insert.run(time, tail, type, username, source, system ? 1 : 0, json)
      return stampDraft(draft, time)
    })
    if (count > 0) this.#setHighWater(time)
    return isFull ? undefined : events
  }

  /** Moves some of the outbox, where there is any; false once nothing is left. */
  #moveSome(): boolean {
    if (!this.#outbox.hasSome()) return false
    this.#connection.tryWrite(() => this.#keep([]))
    return true
  }

  #schedulePoll(ms: number): void {
    this.#poll = setTimeout(() => void this.#pollOutbox(), ms).unref()
  }

  async #pollOutbox(): Promise<void> {
    let pause = POLL_MS
    try {
      while (this.#moveSome()) {
        this.#watch.hint()
        await nextTurn()
      }
    } catch (error) {
      // What is wrong with the file is told by the calls that need it.
      if (isBusy(error)) pause = LOCKED_POLL_MS
    }
    if (this.#connection.database.open) this.#schedulePoll(pause)
  }

  #highWater(): Microseconds {
    const row = this.#connection.statement('SELECT created_at FROM daybook_high_water').get()
    return (row as { created_at: number }).created_at
  }

  #setHighWater(time: Microseconds): void {
    this.#connection.statement('UPDATE daybook_high_water SET created_at = ?').run(time)
  }

  #rowAt(time: Microseconds): EventRow | undefined {
    const text = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at = ?`
    return this.#connection.statement(text).get(time) as EventRow | undefined
  }

  #find(id: string): EventRow | undefined {
    const foreign = this.#connection
      .statement('SELECT created_at FROM daybook_foreign_ids WHERE id = ?')
      .get(id)
    const time =
      (foreign as { created_at: number } | undefined)?.created_at ?? parseEventId(id)?.time
    const row = time === undefined ? undefined : this.#rowAt(time)
    return row && rowToEvent(row).id === id ? row : undefined
  }

  #insertImported({ event, time, json }: ImportedEvent): void {
    const { id, type, username, source, system } = event
    const carried = parseEventId(id)
    const isNative = carried?.time === time
    const tail = isNative ? carried.tail : id
    this.#connection.statement(INSERT).run(time, tail, type, username, source, system ? 1 : 0, json)
    if (!isNative)
      this.#connection.statement('INSERT INTO daybook_foreign_ids VALUES (?, ?)').run(id, time)
  }

  #clamp({ from, to }: TimeBounds): TimeBounds {
    return { from: Math.max(from, 0), to: Math.min(to, this.#highWater()) }
  }

  /** The next `size` rows' stretch of time at the scan's end of what is left. */
  #slice(rest: TimeBounds, direction: 'asc' | 'desc', size: number): TimeBounds {
    const text = `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
      ORDER BY created_at ${direction === 'asc' ? 'ASC' : 'DESC'} LIMIT 1 OFFSET ?`
    const row = this.#connection.statement(text).get(rest.from, rest.to, size - 1) as
      | EventRow
      | undefined
    if (!row) return rest
    return direction === 'desc'
      ? { from: row.created_at, to: rest.to }
      : { from: rest.from, to: row.created_at }
  }
}

const INSERT = `INSERT INTO daybook_events (created_at, tail, type, username, source, system, attributes)
  VALUES (?, ?, ?, ?, ?, ?, jsonb(?))`

/** The rows of one slice that SQL cannot rule out. */
function sliceQuery(direction: 'asc' | 'desc', narrowed: Sql | undefined): Sql {
  const where = narrowed ? `AND ${narrowed.text}` : ''
  return {
    text: `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at BETWEEN ? AND ? ${where}
      ORDER BY created_at ${direction === 'asc' ? 'ASC' : 'DESC'}`,
    params: narrowed?.params ?? [],
  }
}

import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { abortedError, AuditLogError, throwIfAborted } from '../../src/errors.js'
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
import { importConflict, isSameEvent } from '../../src/importing.js'
import type { EventPage, EventStore, ImportResult, WaitOptions } from '../../src/store.js'
import { type Clock, type Microseconds, systemClock } from '../../src/timestamp.js'
import { isBusy, openDatabase, type SqliteDatabase, type SqliteStatement } from './database.js'
import { narrowAttribute } from './narrow.js'
import { narrowWhere } from './narrow-where.js'
import { EVENT_COLUMNS, type EventRow, rowToEvent } from './rows.js'
import { migrate } from './schema.js'

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
// A process that saw a lock lately leaves the others a gap after its own commit.
const CONTENTION_MS = 100

const jitter = (): number => 1 + Math.random() * 2

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
  readonly #database: SqliteDatabase
  readonly #clock: Clock
  readonly #statements = new LRUCache<string, SqliteStatement>({ max: 100 })
  #lastBusy = -Infinity

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
    this.#database = openDatabase(filename, (database) => {
      if (isOurs) {
        // Takes effect only before the first table: later the file could never shrink.
        database.pragma('auto_vacuum = INCREMENTAL')
        database.pragma('journal_mode = WAL')
      }
      migrate(database)
    })
  }

  async append(
    drafts: readonly EventDraft[],
    { signal }: WaitOptions = {},
  ): Promise<readonly AuditEvent[]> {
    if (performance.now() - this.#lastBusy < CONTENTION_MS) await this.#pause(jitter(), signal)
    return this.#write(signal, () => {
      const now = this.#clock()
      const insert = this.#statement(INSERT)
      let time = Math.max(this.#highWater(), now - drafts.length)
      const events = drafts.map((draft) => {
        const { tail, type, username, source, system, json } = draft
        time += 1
        insert.run(time, tail, type, username, source, system ? 1 : 0, json)
        return stampDraft(draft, time)
      })
      this.#statement('UPDATE daybook_high_water SET created_at = ?').run(time)
      return events
    })
  }

  async importEvents(
    events: readonly ImportedEvent[],
    { signal }: WaitOptions = {},
  ): Promise<ImportResult> {
    return this.#write(signal, () => {
      const now = this.#clock()
      let highWater = this.#highWater()
      let imported = 0
      for (const candidate of events) {
        const there = this.#rowAt(candidate.time)
        if (there && isSameEvent(rowToEvent(there), there.attributes, candidate)) continue
        if (candidate.time > now || there || this.#find(candidate.event.id))
          throw importConflict(candidate, now)
        this.#insertImported(candidate)
        highWater = Math.max(highWater, candidate.time)
        imported++
      }
      this.#statement('UPDATE daybook_high_water SET created_at = ?').run(highWater)
      return { imported, skipped: events.length - imported }
    })
  }

  async get(id: string, { signal }: WaitOptions = {}): Promise<AuditEvent | undefined> {
    const row = await this.#retry(signal, () => this.#find(id))
    return row && rowToEvent(row)
  }

  async list(query: EventQuery, { signal }: WaitOptions = {}): Promise<EventPage> {
    const matches = compileFilter(query.where)
    const collector = pageCollector(query)
    const scan = sliceQuery(collector.direction, narrowWhere(query.where, narrowAttribute))
    // What becomes visible later is not part of this answer.
    let rest = await this.#retry(signal, () => this.#clamp(timeBounds(query.where)))
    for (let size = FIRST_SLICE; rest.from <= rest.to; size = Math.min(size * 4, MAX_SLICE)) {
      const slice = await this.#retry(signal, () => {
        const taken = this.#slice(rest, collector.direction, size)
        const rows = this.#statement(scan.text).iterate(taken.from, taken.to, ...scan.params)
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

  async close(): Promise<void> {
    if (this.#database.open) this.#database.close()
  }

  /** One transaction, tried again while other connections hold the file's one write lock. */
  #write<Result>(signal: AbortSignal | undefined, act: () => Result): Promise<Result> {
    return this.#retry(signal, () => {
      const database = this.#database
      this.#statement('BEGIN IMMEDIATE').run()
      try {
        const result = act()
        this.#statement('COMMIT').run()
        return result
      } catch (error) {
        if (database.inTransaction) this.#statement('ROLLBACK').run()
        throw error
      }
    })
  }

  /** `act` must do nothing where it meets a lock. Waiting in JavaScript keeps the loop free. */
  async #retry<Result>(signal: AbortSignal | undefined, act: () => Result): Promise<Result> {
    for (;;) {
      throwIfAborted(signal)
      if (!this.#database.open) throw new AuditLogError('CLOSED', 'the SQLite store is closed')
      try {
        return act()
      } catch (error) {
        if (error instanceof AuditLogError) throw error
        if (!isBusy(error)) {
          const reason = error instanceof Error ? error.message : String(error)
          throw new AuditLogError('STORE_FAILED', `the SQLite store failed: ${reason}`, {
            cause: error,
          })
        }
        this.#lastBusy = performance.now()
      }
      await this.#pause(jitter(), signal)
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    try {
      await delay(ms, undefined, signal ? { signal } : {})
    } catch {
      throw abortedError(signal!)
    }
  }

  #statement(text: string): SqliteStatement {
    let statement = this.#statements.get(text)
    if (!statement) {
      statement = this.#database.prepare(text)
      this.#statements.set(text, statement)
    }
    return statement
  }

  #highWater(): Microseconds {
    const row = this.#statement('SELECT created_at FROM daybook_high_water').get()
    return (row as { created_at: number }).created_at
  }

  #rowAt(time: Microseconds): EventRow | undefined {
    const text = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at = ?`
    return this.#statement(text).get(time) as EventRow | undefined
  }

  #find(id: string): EventRow | undefined {
    const foreign = this.#statement('SELECT created_at FROM daybook_foreign_ids WHERE id = ?').get(
      id,
    )
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
    this.#statement(INSERT).run(time, tail, type, username, source, system ? 1 : 0, json)
    if (!isNative) this.#statement('INSERT INTO daybook_foreign_ids VALUES (?, ?)').run(id, time)
  }

  #clamp({ from, to }: TimeBounds): TimeBounds {
    return { from: Math.max(from, 0), to: Math.min(to, this.#highWater()) }
  }

  /** The next `size` rows' stretch of time at the scan's end of what is left. */
  #slice(rest: TimeBounds, direction: 'asc' | 'desc', size: number): TimeBounds {
    const text = `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
      ORDER BY created_at ${direction === 'asc' ? 'ASC' : 'DESC'} LIMIT 1 OFFSET ?`
    const row = this.#statement(text).get(rest.from, rest.to, size - 1) as EventRow | undefined
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

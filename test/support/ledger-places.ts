import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import type { AuditEvent, EventStore } from 'daybook'
import { captureChanges as captureOnPostgres, postgresStore } from 'daybook/postgres'
import { captureChanges as captureOnSqlite, sqliteStore } from 'daybook/sqlite'
import type Database from 'better-sqlite3'
import pg from 'pg'
import { inject } from 'vitest'
import type { MemoryLog } from '../../adapters/memory/memory-log.js'
import { createMemoryStore } from '../../adapters/memory/memory-store.js'
import { eventChecksum } from '../../adapters/postgres/schema/event-checksum.js'
import { checksumOf } from '../../adapters/sqlite/schema/rows.js'
import { parseEventId } from '../../src/event/event-id.js'
import { type Clock, parseTimestamp } from '../../src/event/timestamp.js'
import { postgresDatabase } from './database.js'
import { execute } from './sqlite-file.js'
import { tempDir } from './temp.js'

/** A log whose events somebody changes behind its back. */
export interface LedgerPlace {
  open(options?: PlaceOptions): EventStore
  /** Replaces the event at the time of the first; without it, inserts the second; without that, removes the first. */
  edit(before: AuditEvent | undefined, after: AuditEvent | undefined): void | Promise<void>
  /** Lists an event as late, as an import does. */
  listLate(event: AuditEvent): void | Promise<void>
  /** Runs SQL, where the store has any. `%` stands for what the names of tables begin with. */
  readonly execute?: (sql: string) => void | Promise<void>
  /** Captures the changes of a new table `orders`, where the store can. */
  readonly capture?: () => void | Promise<void>
  /** Another place with the same log. Nothing may have the log open meanwhile. */
  readonly copy?: () => LedgerPlace | Promise<LedgerPlace>
  remove(): void | Promise<void>
}

export interface PlaceOptions {
  readonly readOnly?: boolean
  readonly clock?: Clock
}

const timeOf = ({ created_at }: AuditEvent): number => parseTimestamp(created_at)!

/** The time and the suffix of the row of an event. */
function placeOf(event: AuditEvent): readonly [time: number, suffix: string] {
  const time = timeOf(event)
  const parsed = parseEventId(event.id)
  return [time, parsed?.time === time ? parsed.suffix : event.id]
}

function onMemory(): LedgerPlace {
  let log: MemoryLog
  const store = createMemoryStore({}, { minIndexed: 10_000, probe: 16 }, (made) => (log = made))
  return {
    open: ({ readOnly = false } = {}) => ({ ...store, readOnly, close: () => Promise.resolve() }),
    edit(before, after) {
      if (before) log.timeline.remove(new Set([before.id]))
      if (after) log.timeline.insert([{ time: timeOf(after), event: after }])
    },
    listLate: (event) => log.late.add(timeOf(event)),
    remove() {},
  }
}

function onSqlite(original?: string): LedgerPlace {
  const { file, remove } = tempDir()
  const filename = file('audit.db')
  if (original !== undefined) fs.copyFileSync(original, filename)
  const run = (act: (database: Database.Database) => void): void => execute(filename, act)
  return {
    open: (options) => sqliteStore({ filename, ...options }),
    edit(before, after) {
      run((database) => {
        if (before)
          database.prepare('DELETE FROM daybook_events WHERE created_at = ?').run(timeOf(before))
        if (!after) return
        const { type, username, source } = after
        const [created_at, suffix] = placeOf(after)
        const system = after.system ? 1 : 0
        const attributes = JSON.stringify(after.attributes)
        const row = { created_at, suffix, type, username, source, system, attributes } as const
        database
          .prepare('INSERT INTO daybook_events VALUES (?, ?, ?, ?, ?, ?, jsonb(?), ?, NULL)')
          .run(created_at, suffix, type, username, source, system, attributes, checksumOf(row))
      })
    },
    listLate(event) {
      run((database) =>
        database.prepare('INSERT INTO daybook_late (created_at) VALUES (?)').run(timeOf(event)),
      )
    },
    execute: (sql) => run((database) => database.exec(sql.replaceAll('%', 'daybook_'))),
    capture: () =>
      run((database) => {
        database.exec(ORDERS)
        captureOnSqlite({ database, tables: ['orders'] })
      }),
    copy: () => onSqlite(filename),
    remove,
  }
}

const ORDERS = 'CREATE TABLE orders (id integer PRIMARY KEY, total integer)'

interface SchemaPlace {
  readonly connectionString: string
  readonly schema: string
  readonly remove?: () => Promise<void>
}

function onPostgres({ connectionString, schema, remove }: SchemaPlace): LedgerPlace {
  // A connection that stays open would keep others from copying the database.
  const withPool = async (act: (pool: pg.Pool) => Promise<unknown>): Promise<void> => {
    const pool = new pg.Pool({ connectionString, max: 1 })
    try {
      await act(pool)
    } finally {
      await pool.end()
    }
  }
  const run = (sql: string, values: unknown[] = []): Promise<void> =>
    withPool((pool) => pool.query(sql.replaceAll('%', `"${schema}".`), values))
  return {
    open: (options) => postgresStore({ connectionString, schema, ...options }),
    async edit(before, after) {
      if (before) await run('DELETE FROM %events WHERE created_at = $1', [timeOf(before)])
      if (!after) return
      const [time, suffix] = placeOf(after)
      const { type, username, source, system } = after
      const json = JSON.stringify(after.attributes)
      const checksum = eventChecksum({ ...after, suffix, json }, time)
      const values = [time, suffix, type, username, source, system, json, checksum]
      await run('INSERT INTO %events VALUES ($1, $2, $3, $4, $5, $6, $7, $8)', values)
    },
    listLate: (event) => run('INSERT INTO %late_events (created_at) VALUES ($1)', [timeOf(event)]),
    execute: (sql) => run(sql),
    capture: () =>
      withPool(async (pool) => {
        await pool.query(ORDERS)
        await captureOnPostgres({ pool, schema, tables: ['orders'] })
      }),
    copy: () => inDatabase(new URL(connectionString).pathname.slice(1)),
    remove: remove ?? (() => run(`DROP SCHEMA "${schema}" CASCADE`)),
  }
}

/** A place in a database of its own, which can be copied. */
async function inDatabase(template?: string): Promise<LedgerPlace> {
  const { url, remove } = await postgresDatabase(template)
  return onPostgres({ connectionString: url, schema: 'audit', remove })
}

export const ledgerPlaces = {
  memory: onMemory,
  SQLite: () => onSqlite(),
  Postgres: () =>
    onPostgres({ connectionString: inject('postgresUrl'), schema: `ledger ${randomUUID()}` }),
} as const

/** Places that can be copied, where the store can. */
export const originalPlaces: Readonly<
  Record<keyof typeof ledgerPlaces, () => LedgerPlace | Promise<LedgerPlace>>
> = { ...ledgerPlaces, Postgres: () => inDatabase() }

import Database from 'better-sqlite3'
import type { EventStore } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { useSqliteFile } from '../../support/sqlite-file.js'

describe('analyze', () => {
  const file = useSqliteFile()
  let host: Database.Database
  let store: EventStore

  beforeEach(() => {
    host = file.closing(new Database(file.filename))
    store = file.closing(sqliteStore({ database: host }))
  })

  /** Inserts rows. The name of the table must be quoted. */
  const fill = (table: string, count: number): void => {
    const insert = host.prepare(`INSERT INTO ${table} (name) VALUES (?)`)
    host.transaction(() => {
      for (let n = 0; n < count; n++) insert.run(`name ${n}`)
    })()
  }

  it('tables with stale statistics are analyzed, and their rows are returned', async () => {
    const quoted = '"the ""orders"""'
    const table = 'the "orders"'
    host.exec(`CREATE TABLE ${quoted} (name TEXT UNIQUE)`)
    fill(quoted, 300)
    expect(await store.analyze!()).toEqual({
      analyzed_tables: [{ table, rows_before: null, rows_after: 300 }],
    })
    expect(await store.analyze!()).toEqual({ analyzed_tables: [] })
    host.exec(`DELETE FROM ${quoted}`)
    fill(quoted, 9000)
    expect(await store.analyze!()).toEqual({
      analyzed_tables: [{ table, rows_before: 300, rows_after: 9000 }],
    })
  })

  it.each([
    ['a partial index', '(name TEXT)', ['(name) WHERE name = 1']],
    ['a partial and a full index', '(name TEXT)', ['(name) WHERE name = 1', '(name)']],
    ['a full and a partial index', '(name TEXT)', ['(name)', "(name) WHERE name > 'name 30'"]],
    ['partial indexes alone', '(name TEXT)', ["(name) WHERE name > 'name 30'", '(name) WHERE 0']],
    ['a unique and a partial index', '(name TEXT UNIQUE)', ['(name) WHERE name = 1']],
    ['no rowid', '(name TEXT PRIMARY KEY) WITHOUT ROWID', ['(name) WHERE name = 1']],
  ])('the rows of a table with %s are counted', async (_, columns, indexes) => {
    host.exec(`CREATE TABLE orders ${columns}`)
    for (const [n, index] of indexes.entries()) host.exec(`CREATE INDEX i${n} ON orders ${index}`)
    fill('orders', 5000)
    expect(await store.analyze!()).toEqual({
      analyzed_tables: [{ table: 'orders', rows_before: null, rows_after: 5000 }],
    })
    expect(await store.analyze!()).toEqual({ analyzed_tables: [] })
  })

  it('tables without rows or without an index are skipped', async () => {
    host.exec('CREATE TABLE empty (name TEXT UNIQUE); CREATE TABLE plain (name TEXT)')
    fill('plain', 300)
    const draft = { suffix: '8000000000000000', username: null, system: true, type: 'x' }
    await store.append([{ ...draft, source: null, attributes: {}, json: '{}' }])
    expect(await store.analyze!()).toEqual({ analyzed_tables: [] })
  })

  it('a call waits for a lock until its signal aborts', async () => {
    host.exec('CREATE TABLE orders (name TEXT UNIQUE)')
    fill('orders', 10)
    host.exec('BEGIN IMMEDIATE')
    await expect(store.analyze!({ signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      code: 'ABORTED',
    })
    const analyzed = store.analyze!()
    host.exec('COMMIT')
    expect((await analyzed).analyzed_tables).toHaveLength(1)
  })

  it('a call after close is refused', async () => {
    await store.close()
    await expect(store.analyze!()).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

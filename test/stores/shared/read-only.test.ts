import { hash } from 'node:crypto'
import fs from 'node:fs'
import { AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresDatabase } from '../../support/database.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { tempDir } from '../../support/temp.js'

interface Place {
  /** A store that writes. */
  write(): EventStore
  /** Opens a read-only log on the events of such a store. */
  read(): AuditLog
  /** The whole stored content, or a digest of it. */
  content(): Promise<unknown>
}

const types = { 'api:x': {} }

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async memory() {
    const store = memoryStore()
    const shared: EventStore = { ...store, close: () => Promise.resolve() }
    return {
      write: () => shared,
      read: () => new AuditLog({ store: shared, types, readOnly: true }),
      content: async () => (await store.list({ where: undefined, sorts: [], limit: 1000 })).events,
    }
  },
  async SQLite() {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const filename = file('audit.db')
    return {
      write: () => sqliteStore({ filename }),
      read: () => new AuditLog({ store: sqliteStore({ filename, readOnly: true }), types }),
      content: async () => hash('sha256', fs.readFileSync(filename)),
    }
  },
  async Postgres() {
    const { url: connectionString, remove, pool } = await postgresDatabase()
    onTestFinished(remove)
    // The server refuses every write.
    const store = (): EventStore => {
      const url = new URL(connectionString)
      url.searchParams.set('options', '-c default_transaction_read_only=on')
      return postgresStore({ connectionString: url.href, readOnly: true })
    }
    return {
      write: () => postgresStore({ connectionString }),
      read: () => new AuditLog({ store: store(), types }),
      content: async () => {
        const { rows } = await pool.query(
          `SELECT relname FROM pg_class WHERE relnamespace = 'daybook'::regnamespace ORDER BY 1`,
        )
        return rows
      },
    }
  },
}

const code = (expected: string): unknown => expect.objectContaining({ code: expected })

describe.each(Object.entries(PLACES))('a log opened read-only on %s', (_name, create) => {
  it('reads, follows, and changes nothing', async () => {
    const place = await create()
    const store = place.write()
    const writer = new AuditLog({ store, types })
    const recorded = [
      await writer.record('api:x', { n: 1 }),
      await writer.record('api:x', { n: 2 }),
    ]
    await writer.close()
    const before = await place.content()

    const log = place.read()
    expect((await log.list()).events).toEqual(recorded)
    expect((await log.list('filter[n_eq]=2&filter[sorts]=n')).events).toEqual([recorded[1]])
    expect(await log.get(recorded[0]!.id)).toEqual(recorded[0])
    expect((await log.count('', { ...EXACTLY, facets: ['n'] })).total).toBe(2)
    expect(await log.explain('filter[n_eq]=1')).toMatchObject({ store: store.name })
    for await (const page of log.pages()) expect(page).toEqual(recorded)
    await log.flush()
    await log.close()
    if (log.store.name !== 'memory') await expect(log.list()).rejects.toThrow(code('CLOSED'))
    expect(await place.content()).toEqual(before)
  })

  it('follows events of other processes', async () => {
    const place = await create()
    const writer = new AuditLog({ store: place.write(), types })
    const first = await writer.record('api:x', { n: 1 })
    const log = place.read()
    const tail = log.tail('', { after: first!.created_at })
    const next = tail.next()
    const second = await writer.record('api:x', { n: 2 })
    expect((await next).value).toEqual(second)
    await tail.return()
    await log.close()
    await writer.close()
  })

  it('refuses every method that writes', async () => {
    const place = await create()
    await new AuditLog({ store: place.write(), types }).close()
    const warm = new AuditLog({ store: place.write(), types })
    await warm.record('api:x')
    const [event] = (await warm.list()).events
    await warm.close()
    const log = place.read()
    const calls = [
      () => log.record('api:x'),
      () => log.recordSystem('other'),
      () => log.recordCustom('own'),
      () => log.recordCustom('own', {}, { idempotencyKey: 'k' }),
      () => log.recordCustom('own', {}, { transaction: {} }),
      () => log.recordChange('api:x', null, {}),
      () => log.recordLive('api:x'),
      () => log.importEvents([event!]),
      () => log.cleaning.run(),
      () => log.store.remove([event!.id]),
      () => log.store.updateState('k', () => 1),
    ]
    for (const call of calls) await expect(call(), String(call)).rejects.toThrow(code('READ_ONLY'))
    expect(log.stats()).toMatchObject({ calls: 0, rejected: 0, waiting: 0 })
    expect((await log.list()).events).toEqual([event])
    await log.close()
  })
})

describe('a store opened read-only', () => {
  it('creates no SQLite file, and no tables in one', () => {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const missing = { filename: file('missing.db'), readOnly: true }
    expect(() => sqliteStore(missing)).toThrow(code('STORE_FAILED'))
    expect(fs.existsSync(missing.filename)).toBe(false)
    const filename = file('other.db')
    new Database(filename).exec('CREATE TABLE own (n)').close()
    expect(() => sqliteStore({ filename, readOnly: true })).toThrow(
      /has no audit log: run daybook migrate/,
    )
  })

  it('refuses an SQLite file of another version', async () => {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const filename = file('audit.db')
    await sqliteStore({ filename }).close()
    const database = new Database(filename)
    database.exec('UPDATE daybook_schema SET version = 0')
    database.close()
    expect(() => sqliteStore({ filename, readOnly: true })).toThrow(/has schema version 0/)
  })

  it('reads a write-protected SQLite file', async () => {
    const { file, remove } = tempDir()
    onTestFinished(remove)
    const filename = file('audit.db')
    const writer = new AuditLog({ store: sqliteStore({ filename }), types })
    const event = await writer.record('api:x')
    await writer.close()
    fs.chmodSync(filename, 0o444)
    const log = new AuditLog({ store: sqliteStore({ filename, readOnly: true }), types })
    expect((await log.list()).events).toEqual([event])
    await log.close()
  })

  it('creates no schema in Postgres', async () => {
    const { url: connectionString, remove, pool } = await postgresDatabase()
    onTestFinished(remove)
    const store = postgresStore({ connectionString, readOnly: true })
    await expect(store.list({ where: undefined, sorts: [], limit: 1 })).rejects.toThrow(
      /has no audit log: run daybook migrate/,
    )
    await store.close()
    const { rows } = await pool.query(`SELECT FROM pg_namespace WHERE nspname = 'daybook'`)
    expect(rows).toEqual([])
  })

  it('takes no journal and no cleaning rules', () => {
    const store = memoryStore()
    const cleaning = { rules: [] }
    expect(() => new AuditLog({ store, types, readOnly: true, cleaning })).toThrow(
      'a log that only reads takes no cleaning',
    )
    const journal = { add() {} } as never
    expect(() => new AuditLog({ store, types, readOnly: true, journal })).toThrow(
      'a log that only reads takes no journal',
    )
  })
})

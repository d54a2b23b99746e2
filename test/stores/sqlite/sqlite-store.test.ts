import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type AppendOptions, AuditLog, AuditLogError } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../../adapters/sqlite/connection/database.js'
import { readCacheBytes } from '../../../adapters/sqlite/connection/page-cache.js'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { DEADLINE_MS, driveDeadlines, untilTried } from '../../support/deadlines.js'
import { BUSY } from '../../support/node-sqlite/busy.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { turnsDuring } from '../../support/turns.js'

describe('sqliteStore', () => {
  const file = useSqliteFile()

  const auditLog = (waiting = {}): AuditLog => {
    const store = sqliteStore({ filename: file.filename })
    return file.closing(new AuditLog({ store, types: {}, waiting }))
  }
  /** A connection that holds the write lock. */
  const locked = (): Database.Database => {
    const other = new Database(file.filename)
    other.exec('BEGIN IMMEDIATE')
    return other
  }
  const inspect = <Row>(sql: string): Row[] =>
    file.execute((database) => database.prepare<[], Row>(sql).all())

  it('a new file has WAL mode, incremental vacuum and no index on the events', async () => {
    await auditLog().recordCustom('x')
    expect(inspect('PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
    expect(inspect('PRAGMA auto_vacuum')).toEqual([{ auto_vacuum: 2 }])
    expect(
      inspect(
        `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'daybook_events'`,
      ),
    ).toEqual([])
    expect(inspect('SELECT version FROM daybook_schema')).toEqual([{ version: 2 }])
    expect(
      inspect('SELECT username, source, system, length(suffix) AS suffix FROM daybook_events'),
    ).toEqual([{ username: null, source: null, system: 0, suffix: 16 }])
  })

  it('hostile queries change no table and no row', async () => {
    const audit = auditLog()
    await audit.recordCustom('x', { a: 1 })
    const state = () => [
      inspect('SELECT name, sql FROM sqlite_schema ORDER BY name'),
      inspect('SELECT *, hex(attributes) FROM daybook_events'),
      inspect('PRAGMA integrity_check'),
    ]
    const before = state()
    const attack = `x'); DROP TABLE daybook_events; DELETE FROM daybook_events; --`
    const names = [attack, `a" || (SELECT 1) || "`, `$.a', (DELETE FROM daybook_events), '`, '?1']
    for (const name of names)
      for (const predicate of ['eq', 'not_eq', 'in', 'lt', 'cont', 'matches', 'null', 'present'])
        await audit.list({ filter: { [`${name}_${predicate}`]: attack, sorts: [names[3]!] } })
    expect(state()).toEqual(before)
  })

  it('the high-water mark does not depend on the events', async () => {
    const audit = auditLog()
    const event = await audit.recordCustom('x')
    file.execute((database) =>
      database.exec(
        `DELETE FROM daybook_events;
         UPDATE daybook_high_water SET created_at = created_at + 3600000000`,
      ),
    )
    const next = await audit.recordCustom('y')
    expect(Date.parse(next!.created_at) - Date.parse(event!.created_at)).toBeGreaterThan(3_599_000)
  })

  it.each([
    { filename: '' },
    { filename: ':memory:' },
    { filename: 'never-opened.db', cacheBytes: 1_048_575 },
    { filename: 'never-opened.db', cacheBytes: 2_000_000.5 },
    { filename: 'never-opened.db', cacheBytes: 2 ** 50 + 1 },
  ])('the options %j are refused', (options) => {
    expect(() => sqliteStore(options)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
    expect(fs.existsSync('never-opened.db')).toBe(false)
  })

  it.each([
    [undefined, -4096],
    [1_048_576, -1024],
    [10_000_000, -9765],
  ])('a connection with cacheBytes %o has a page cache of %i KiB', (cacheBytes, size) => {
    auditLog()
    const database = openDatabase(file.filename, () => {}, {
      cacheBytes: readCacheBytes(cacheBytes),
    })
    try {
      expect(database.pragma('cache_size', { simple: true })).toBe(size)
    } finally {
      database.close()
    }
  })

  it('the error names a file that cannot be opened', () => {
    const missing = file.beside('none/audit.db')
    expect(() => sqliteStore({ filename: missing })).toThrow(
      expect.objectContaining({ code: 'STORE_FAILED', message: expect.stringContaining(missing) }),
    )
    fs.writeFileSync(
      file.filename,
      'this is no database, but it is long enough to look like a file',
    )
    expect(() => sqliteStore({ filename: file.filename })).toThrow(
      expect.objectContaining({ code: 'STORE_FAILED' }),
    )
  })

  it('an existing file opens and answers while another connection holds the write lock', async () => {
    const event = await auditLog().recordCustom('x')
    const other = locked()
    const second = auditLog()
    expect((await second.list()).events).toEqual([event])
    other.close()
  })

  it('a file of a newer version is refused and left unchanged', async () => {
    await auditLog().close()
    file.execute((database) => database.exec('UPDATE daybook_schema SET version = 99'))
    expect(() => sqliteStore({ filename: file.filename })).toThrow(/schema version 99/)
    expect(inspect('SELECT version FROM daybook_schema')).toEqual([{ version: 99 }])
  })

  it('the log uses the file of an open handle, and the settings of the handle stay', async () => {
    const host = new Database(file.filename)
    host.exec(
      "CREATE TABLE projects (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO projects VALUES (1, 'acme')",
    )
    const names = ['journal_mode', 'synchronous', 'busy_timeout', 'auto_vacuum', 'user_version']
    const settings = (): unknown => names.map((name) => host.pragma(name))
    const before = settings()
    const audit: AuditLog = new AuditLog({ store: sqliteStore({ database: host }), types: {} })
    file.closing(audit)
    await audit.recordCustom('x', { a: 1 })
    expect((await audit.list()).events).toHaveLength(1)
    expect(settings()).toEqual(before)
    await audit.close()
    expect(host.open).toBe(true)
    expect(host.prepare('SELECT name FROM projects').all()).toEqual([{ name: 'acme' }])
    host.close()
  })

  it('an append waits for a lock without blocking the event loop', async () => {
    const audit = auditLog()
    const other = locked()
    let ticks = 0
    const ticking = setInterval(() => ticks++, 5)
    const recorded = audit.recordCustom('patient')
    await vi.waitFor(() => expect(ticks).toBeGreaterThan(5), { timeout: 60_000 })
    expect(audit.stats()).toMatchObject({ waiting: 1, stored: 0 })
    other.exec('COMMIT')
    other.close()
    clearInterval(ticking)
    expect((await recorded)?.type).toBe('patient')
  })

  it('a call that gets no lock before its deadline rejects, and its event is never stored', async () => {
    const passDeadlines = driveDeadlines()
    const audit = auditLog({ deadlineMs: DEADLINE_MS })
    const other = locked()
    const late = expect(audit.recordCustom('late')).rejects.toMatchObject({
      code: 'DEADLINE_EXCEEDED',
      message: `the sqlite store did not take the event within ${DEADLINE_MS} ms: database is locked`,
    })
    await untilTried()
    passDeadlines()
    await late
    other.exec('COMMIT')
    other.close()
    await audit.recordCustom('next')
    // The report of the lost event may be stored by now.
    const { events } = await audit.list('filter[type_not_eq]=warn:audit_log:gap')
    expect(events.map((event) => event.type)).toEqual(['next'])
    expect(audit.stats()).toMatchObject({ calls: 2, stored: 1, rejected: 1, waiting: 0 })
  })

  it('an append that ends at its deadline or by its signal has the lock error as cause', async () => {
    const { store } = auditLog()
    const other = locked()
    const append = (options: AppendOptions): Promise<unknown> => store.append([draft({})], options)
    const reason = { code: 'ABORTED', cause: { ...BUSY, message: 'database is locked' } }
    const passDeadlines = driveDeadlines()
    const late = append({ deadline: performance.now() + DEADLINE_MS })
    const controller = new AbortController()
    const aborted = append({ signal: controller.signal })
    const outcomes = Promise.allSettled([late, aborted])
    await untilTried()
    passDeadlines()
    controller.abort()
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason })
    other.exec('COMMIT')
    other.close()
    await expect(append({ deadline: performance.now() })).rejects.toMatchObject({ code: 'ABORTED' })
    const cause = new Error('enough')
    await expect(append({ signal: AbortSignal.abort(cause) })).rejects.toMatchObject({
      code: 'ABORTED',
      cause,
    })
    await delay(50)
    expect(await store.append([])).toEqual([])
    expect(inspect('SELECT * FROM daybook_events')).toEqual([])
  })

  it('if the file is damaged, the error of the driver is the cause', async () => {
    const audit = auditLog()
    file.execute((database) => database.exec('DROP TABLE daybook_high_water'))
    const error = await audit.recordCustom('x').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AuditLogError)
    expect(error).toMatchObject({ code: 'STORE_FAILED' })
    expect(String((error as AuditLogError).cause)).toContain('daybook_high_water')
  })

  it('during a long scan the event loop runs, and a signal ends it', async () => {
    const audit = auditLog()
    await Promise.all(Array.from({ length: 4000 }, (_, n) => audit.recordCustom('x', { n })))
    const query = 'filter[n_matches]=no such text'
    const turns = await turnsDuring(async () =>
      expect((await audit.list(query)).events).toEqual([]),
    )
    expect(turns).toBeGreaterThan(2)
    // Another store has not read the events yet.
    const other = auditLog()
    await turnsDuring(async () => {
      const controller = new AbortController()
      const listing = other.list(query, { signal: controller.signal })
      setImmediate(() => controller.abort())
      await expect(listing).rejects.toMatchObject({ code: 'ABORTED' })
    })
  })
})

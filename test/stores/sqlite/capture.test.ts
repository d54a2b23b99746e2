import Database from 'better-sqlite3'
import { type AuditEvent, AuditLog, type HistoryEntry, revertPatch } from 'daybook'
import { fromKysely } from 'daybook/orm'
import {
  captureAs,
  captureChanges,
  removeCapture,
  type SqliteCaptureOptions,
  sqliteStore,
} from 'daybook/sqlite'
import { Kysely, SqliteDialect } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../support/temp.js'
import { type CaptureRow, expectActors, REFUSED } from '../shared/captured-actors.js'

let temp: ReturnType<typeof tempDir>
let database: Database.Database
let audit: AuditLog

beforeEach(() => {
  temp = tempDir()
  const filename = temp.file('app.db')
  audit = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  database = new Database(filename)
  database.exec(`
    CREATE TABLE orders (id TEXT PRIMARY KEY, total REAL, note TEXT COLLATE NOCASE);
    CREATE TABLE lines (
      order_id TEXT REFERENCES orders ON DELETE CASCADE, line INTEGER, product TEXT,
      PRIMARY KEY (order_id, line)
    );`)
})
afterEach(async () => {
  database.close()
  await audit.close()
  temp.remove()
})

const capture = (options: Partial<SqliteCaptureOptions> = {}) =>
  captureChanges({ database, tables: ['orders', 'lines'], ...options })

/** Moves what is captured into the log, and returns it. */
async function captured(): Promise<readonly AuditEvent[]> {
  await audit.recordCustom('end')
  const { events } = await audit.list('filter[type_start]=audit:&limit=1000')
  // An event that is moved a second later or more says when its row changed.
  return events.map((event) => {
    const { ...attributes } = event.attributes
    delete attributes['occurred_at']
    return { ...event, attributes }
  })
}

/** The events as `type`, user and attributes. */
const shown = async (): Promise<readonly unknown[]> =>
  (await captured()).map(({ type, username, attributes }) => [type, username, attributes])

const insert = (id: string, total = 1): unknown =>
  database.prepare('INSERT INTO orders (id, total) VALUES (?, ?)').run(id, total)

describe('captured changes', () => {
  it('are events with the row before and after, in order', async () => {
    capture()
    insert('A', 99.5)
    database.exec(`UPDATE orders SET total = 100, note = 'x' WHERE id = 'A'`)
    await audit.recordCustom('between')
    database.exec(`DELETE FROM orders`)
    const before = { id: 'A', total: 99.5, note: null }
    const after = { id: 'A', total: 100, note: 'x' }
    const identity = { table: 'orders', order_id: 'A' }
    expect(await shown()).toEqual([
      ['audit:orders:create', null, { ...identity, after: before }],
      [
        'audit:orders:update',
        null,
        {
          ...identity,
          before,
          after,
          changes: [
            { op: 'replace', path: '/total', value: 100, old_value: 99.5 },
            { op: 'replace', path: '/note', value: 'x', old_value: null },
          ],
        },
      ],
      ['audit:orders:destroy', null, { ...identity, before: after }],
    ])
    const { events } = await audit.list()
    expect(events.map(({ type }) => type)).toEqual([
      'audit:orders:create',
      'audit:orders:update',
      'between',
      'audit:orders:destroy',
      'end',
    ])
    expect(events.every(({ system, type }) => system === type.startsWith('audit:'))).toBe(true)
  })

  it('have a history, and can be undone', async () => {
    capture()
    insert('A', 1)
    database.exec(`UPDATE orders SET total = 2; UPDATE orders SET total = 3; DELETE FROM orders`)
    const events = await captured()
    const entries: HistoryEntry[] = []
    for await (const entry of audit.history({ order_id: 'A' })) entries.push(entry)
    const states = entries.map(({ state }) => (state as { total: number } | null)?.total)
    expect(states).toEqual([1, 2, 3, undefined])
    expect(entries.at(-1)!.state).toBeNull()
    expect(revertPatch(events[1]!)).toEqual([{ op: 'replace', path: '/total', value: 1 }])
  })

  it('include those of bulk statements, upserts and cascades; rolled back ones leave nothing', async () => {
    capture()
    database.pragma('foreign_keys = ON')
    for (const id of ['A', 'B', 'C']) insert(id)
    database.exec(`
      INSERT INTO lines VALUES ('A', 1, 'x'), ('A', 2, 'y');
      UPDATE orders SET total = total + 1;
      UPDATE orders SET total = total;
      INSERT INTO orders (id, total) VALUES ('A', 5) ON CONFLICT DO UPDATE SET total = 5;
      INSERT OR IGNORE INTO orders (id) VALUES ('A');
      BEGIN; DELETE FROM orders; ROLLBACK;
      BEGIN; SAVEPOINT one; DELETE FROM orders; ROLLBACK TO one; COMMIT;
      DELETE FROM orders WHERE id = 'A'`)
    const found = await captured()
    const counts = new Map<string, number>()
    for (const { type } of found) counts.set(type, (counts.get(type) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({
      'audit:orders:create': 3,
      'audit:lines:create': 2,
      'audit:orders:update': 4,
      'audit:lines:destroy': 2,
      'audit:orders:destroy': 1,
    })
    const line = found.find(({ type }) => type === 'audit:lines:create')!
    expect(line.attributes).toMatchObject({ primary_key: { order_id: 'A', line: 1 } })
  })

  it('see a change of case, whatever the collation of the column', async () => {
    capture()
    insert('A')
    database.exec(`UPDATE orders SET note = 'ann'; UPDATE orders SET note = 'Ann'`)
    expect((await captured()).length).toBe(3)
  })

  it('hold any value and any name', async () => {
    database.exec(`
      CREATE TABLE "odd ""name's~/" ("a""b'~/c" PRIMARY KEY, x, y, "select" INTEGER GENERATED ALWAYS AS (1)) WITHOUT ROWID`)
    expect(capture({ tables: [`odd "name's~/`] }).installed).toEqual([`odd "name's~/`])
    const add = database.prepare(`INSERT INTO "odd ""name's~/" VALUES (?, ?, ?)`)
    add.run(1, Buffer.from('ab'), 9_007_199_254_740_993n)
    add.run(2, Infinity, -9_223_372_036_854_775_808n)
    add.run(3, 'tab\t"quote" 𝒳 \0', 0.1 + 0.2)
    add.run(4, 1e300, 7.0)
    database.exec(`UPDATE "odd ""name's~/" SET x = x'0102' WHERE x = x'6162'`)
    const events = await captured()
    const key = `a"b'~/c`
    expect(events.map(({ attributes }) => attributes['after'])).toEqual([
      { [key]: 1, x: { bytes: 2 }, y: '9007199254740993', select: 1 },
      { [key]: 2, x: 'Infinity', y: '-9223372036854775808', select: 1 },
      { [key]: 3, x: 'tab\t"quote" 𝒳 \uFFFD', y: 0.1 + 0.2, select: 1 },
      { [key]: 4, x: 1e300, y: 7, select: 1 },
      { [key]: 1, x: { bytes: 2 }, y: '9007199254740993', select: 1 },
    ])
    expect(events[0]!.attributes[`odd "name's~/_id`]).toBe(1)
    expect(events[4]!.attributes['changes']).toEqual([
      { op: 'replace', path: '/x', value: { bytes: 2 }, old_value: { bytes: 2 } },
    ])
  })

  it('hold rows of many columns, and leave out states above the size of an event', async () => {
    const names = Array.from({ length: 600 }, (_, i) => `c${i}`)
    database.exec(`CREATE TABLE wide (id INTEGER PRIMARY KEY, ${names.join(', ')})`)
    capture({ tables: ['wide'] })
    database.exec(`INSERT INTO wide (id, c599) VALUES (1, 'a'); UPDATE wide SET c599 = 'b'`)
    database.prepare(`UPDATE wide SET c0 = ?`).run('x'.repeat(1_100_000))
    const [, update, large] = await captured()
    expect(update!.attributes['changes']).toEqual([
      { op: 'replace', path: '/c599', value: 'b', old_value: 'a' },
    ])
    expect(large!.attributes).toEqual({
      table: 'wide',
      wide_id: 1,
      recording: { replaced: ['/before', '/after'], cut_bytes: expect.any(Number) },
    })
    expect(() => revertPatch(large!)).toThrow(expect.objectContaining({ code: 'NOT_REVERTIBLE' }))
  })

  it('name the resource of a link attribute as their source', async () => {
    database.exec(`CREATE TABLE projects (id TEXT PRIMARY KEY)`)
    capture({ tables: ['projects'] })
    const id = '0190B6A4-64A1-7000-8000-000000000001'
    database.prepare(`INSERT INTO projects VALUES (?), ('acme')`).run(id)
    const events = await captured()
    expect(events.map(({ source }) => source)).toEqual([`/api/projects/${id.toLowerCase()}`, null])
    expect(events[0]!.attributes['project_id']).toBe(id)
  })

  it('hide secrets, and leave out excluded columns', async () => {
    database.exec(`CREATE TABLE users (id INTEGER PRIMARY KEY, name, password_hash, seen_at)`)
    capture({ tables: ['users'], exclude: ['seen_at'] })
    database.exec(`
      INSERT INTO users VALUES (1, 'ann', 'secret 1', 'now');
      UPDATE users SET seen_at = 'later';
      UPDATE users SET password_hash = 'secret 2', seen_at = 'then'`)
    const events = await captured()
    const after = { id: 1, name: 'ann', password_hash: '[redacted]' }
    const old_value = '[redacted]'
    expect(events.map(({ attributes }) => attributes)).toEqual([
      { table: 'users', user_id: 1, after },
      {
        table: 'users',
        user_id: 1,
        before: after,
        after,
        changes: [{ op: 'replace', path: '/password_hash', value: old_value, old_value }],
      },
    ])
    expect(() => revertPatch(events[1]!)).toThrow('the old value of /password_hash is redacted')
  })
})

describe('what the guide says is not captured', () => {
  it('is a row that REPLACE removes, unless triggers are recursive', async () => {
    capture()
    const replace = `INSERT OR REPLACE INTO orders (id, total) VALUES ('A', 1)`
    database.exec(`${replace}; ${replace}; PRAGMA recursive_triggers = ON; ${replace}`)
    const actions = (await captured()).map(({ type }) => type.split(':').at(-1))
    expect(actions).toEqual(['create', 'create', 'destroy', 'create'])
  })

  it('is a dropped column, which SQLite refuses to drop before the triggers', () => {
    capture()
    expect(() => database.exec('ALTER TABLE orders DROP COLUMN note')).toThrow('daybook_capture_')
    removeCapture({ database, tables: ['orders'] })
    database.exec('ALTER TABLE orders DROP COLUMN note')
    expect(capture().installed).toEqual(['orders'])
  })

  it('is a table that is created anew, until captureChanges runs', async () => {
    capture()
    database.exec(
      `DROP TABLE lines; DROP TABLE orders; CREATE TABLE orders (id TEXT PRIMARY KEY, total)`,
    )
    insert('A')
    capture({ tables: ['orders'] })
    insert('B')
    expect((await captured()).map(({ attributes }) => attributes['order_id'])).toEqual(['B'])
  })

  it('is a renamed table, after captureChanges on only the table that has taken its name', async () => {
    capture({ tables: ['orders'] })
    database.exec(
      `ALTER TABLE orders RENAME TO sales; CREATE TABLE orders (id TEXT PRIMARY KEY, total)`,
    )
    capture({ tables: ['orders'] })
    database.exec(`INSERT INTO sales (id) VALUES ('A')`)
    insert('B')
    expect((await captured()).map(({ attributes }) => attributes['order_id'])).toEqual(['B'])
  })
})

describe('captureAs', () => {
  it('names the user of what the transaction changes meanwhile', async () => {
    capture()
    database.transaction(() => {
      captureAs(database, 'ann', () => insert('A'))
      insert('B')
    })()
    insert('C')
    database.exec('BEGIN')
    await captureAs(database, 'bob', async () => {
      await Promise.resolve()
      insert('D')
    })
    expect(() =>
      captureAs(database, 'eve', () => {
        throw new Error('mine')
      }),
    ).toThrow('mine')
    insert('E')
    database.exec('COMMIT')
    const found = (await captured()).map(({ username, attributes }) => [
      attributes['order_id'],
      username,
    ])
    expect(found).toEqual([
      ['A', 'ann'],
      ['B', null],
      ['C', null],
      ['D', 'bob'],
      ['E', null],
    ])
  })

  it('works in the transaction of a query builder', async () => {
    capture()
    const db = new Kysely<{ orders: { id: string; total: number } }>({
      dialect: new SqliteDialect({ database }),
    })
    await db.transaction().execute(async (trx) => {
      await captureAs(fromKysely(trx), 'ann', () =>
        trx.insertInto('orders').values({ id: 'A', total: 1 }).execute(),
      )
      await trx.insertInto('orders').values({ id: 'B', total: 1 }).execute()
    })
    const failing = db.transaction().execute((trx) =>
      captureAs(fromKysely(trx), 'ann', async () => {
        await trx.insertInto('orders').values({ id: 'A', total: 1 }).execute()
      }),
    )
    await expect(failing).rejects.toThrow('UNIQUE')
    insert('C')
    expect((await captured()).map(({ username }) => username)).toEqual(['ann', null, null])
  })

  it('gives captured events the actor and the ids that recorded ones have', async () => {
    database.exec('CREATE TABLE sessions (id TEXT PRIMARY KEY)')
    capture({ tables: ['orders', 'sessions'] })
    const add = async (...[given, table, id]: Parameters<CaptureRow>): Promise<void> =>
      database.transaction(() =>
        captureAs(
          database,
          ...given,
          () => void database.prepare(`INSERT INTO ${table} (id) VALUES (?)`).run(id),
        ),
      )()
    await expectActors(audit, add, captured)
  })

  it('is refused without a transaction, where nothing is captured, and with a bad actor', () => {
    const refused = (message: string) =>
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) })
    const run = (): unknown => captureAs(database, 'ann', () => {})
    expect(run).toThrow(refused('no transaction is open'))
    expect(database.transaction(run)).toThrow(refused('run captureChanges'))
    for (const [given, message] of REFUSED)
      expect(() => captureAs(database, ...(given as never))).toThrow(refused(message))
  })
})

describe('captureChanges', () => {
  it('changes nothing if it is repeated, and replaces triggers for other options or columns', async () => {
    const none = { installed: [], replaced: [], unchanged: [] }
    const schema = (): unknown => database.pragma('schema_version', { simple: true })
    expect(capture()).toEqual({ ...none, installed: ['orders', 'lines'] })
    const version = schema()
    expect(capture()).toEqual({ ...none, unchanged: ['orders', 'lines'] })
    expect(schema()).toBe(version)
    expect(capture({ exclude: ['note'] })).toEqual({
      ...none,
      replaced: ['orders'],
      unchanged: ['lines'],
    })
    database.exec(`ALTER TABLE orders ADD COLUMN paid; INSERT INTO orders VALUES ('A', 1, 'x', 1)`)
    expect(capture({ exclude: ['note'] })).toMatchObject({ replaced: ['orders'] })
    database.exec(`ALTER TABLE orders RENAME COLUMN total TO sum; UPDATE orders SET sum = 2`)
    database.exec(`UPDATE orders SET paid = 0`)
    expect((await captured()).map(({ attributes }) => attributes['after'])).toEqual([
      { id: 'A', total: 1 },
      { id: 'A', total: 2, paid: 1 },
      { id: 'A', total: 2, paid: 0 },
    ])
  })

  it('follows a renamed table, and leaves one event for each of its rows', async () => {
    capture({ tables: ['orders'] })
    database.exec('ALTER TABLE orders RENAME TO sales')
    const add = (id: string): unknown =>
      database.prepare('INSERT INTO sales (id) VALUES (?)').run(id)
    add('A')
    expect(capture({ tables: ['sales'] }).replaced).toEqual(['sales'])
    add('B')
    database.exec('CREATE TABLE orders (id TEXT PRIMARY KEY, total)')
    expect(capture({ tables: ['orders', 'sales'] })).toMatchObject({
      installed: ['orders'],
      unchanged: ['sales'],
    })
    insert('C')
    add('D')
    database.exec(`
      DROP TABLE sales; ALTER TABLE orders RENAME TO sales; CREATE TABLE orders (id TEXT PRIMARY KEY, total)`)
    capture({ tables: ['orders', 'sales'] })
    insert('E')
    add('F')
    const found = (await captured()).map(({ attributes: { table, after } }) => [table, after])
    expect(found).toMatchObject([
      ['orders', { id: 'A' }],
      ['sales', { id: 'B' }],
      ['orders', { id: 'C' }],
      ['sales', { id: 'D' }],
      ['orders', { id: 'E' }],
      ['sales', { id: 'F' }],
    ])
  })

  it('is part of an open transaction', async () => {
    database.exec('BEGIN')
    capture()
    database.exec('ROLLBACK')
    insert('A')
    expect(await captured()).toEqual([])
    expect(capture().installed).toEqual(['orders', 'lines'])
  })

  it('is undone by removeCapture', async () => {
    capture()
    insert('A')
    expect(removeCapture({ database, tables: ['lines', 'other'] })).toEqual(['lines'])
    insert('B')
    expect(removeCapture({ database })).toEqual(['orders'])
    expect(removeCapture({ database })).toEqual([])
    insert('C')
    expect((await captured()).length).toBe(2)
  })

  it.each<[string, Partial<SqliteCaptureOptions>]>([
    ['tables must be a list of at least one table', { tables: [] }],
    ['tables has orders twice', { tables: ['orders', { name: 'orders' }] }],
    ['there is no table nowhere in', { tables: ['nowhere'] }],
    ['seen is a view in', { tables: ['seen'] }],
    ['the table daybook_outbox belongs to the log', { tables: ['daybook_outbox'] }],
    ['the table keyless has no primary key: give it { name, primaryKey }', { tables: ['keyless'] }],
    [
      'the table orders has no column totl; did you mean total?',
      { tables: [{ name: 'orders', exclude: ['totl'] }] },
    ],
    ['exclude: no table has a column notes; did you mean note?', { exclude: ['notes'] }],
    ['exclude has id, which identifies the rows of orders', { exclude: ['id'] }],
    ['exclude must be a list of names', { exclude: 'note' as never }],
    [
      'the event type of the table orders must have 1 to 255 characters: give it a subject',
      { tables: [{ name: 'orders', subject: 'x'.repeat(300) }] },
    ],
    ['database must be a handle of better-sqlite3 or node:sqlite', { database: {} as never }],
  ])('refuses what it cannot capture: %s', (message, options) => {
    database.exec(`CREATE VIEW seen AS SELECT 1; CREATE TABLE keyless (a, b)`)
    expect(() => capture(options)).toThrow(
      expect.objectContaining({
        code: 'INVALID_OPTION',
        message: expect.stringContaining(message),
      }),
    )
    expect(database.inTransaction).toBe(false)
  })

  it('takes the key of a table without a primary key, and a name for its events', async () => {
    database.exec(`CREATE TABLE keyless (a, b)`)
    capture({ tables: [{ name: 'keyless', subject: 'things' }], primaryKey: ['a'] })
    database.exec(`INSERT INTO keyless VALUES (1, 2)`)
    expect(await shown()).toEqual([
      ['audit:things:create', null, { table: 'things', thing_id: 1, after: { a: 1, b: 2 } }],
    ])
  })

  it('fails with the error of the driver while the file is locked', () => {
    const other = new Database(database.name)
    other.exec('BEGIN IMMEDIATE')
    database.pragma('busy_timeout = 0')
    expect(() => capture()).toThrow(
      expect.objectContaining({
        code: 'STORE_FAILED',
        message: 'cannot change the triggers: database is locked',
      }),
    )
    other.close()
  })

  it('needs a log in the file, and an open handle', () => {
    const empty = new Database(':memory:')
    expect(() => capture({ database: empty })).toThrow('has no audit log: open the store first')
    empty.close()
    expect(() => capture({ database: empty })).toThrow('database: the handle is closed')
  })
})

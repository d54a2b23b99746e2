import Database from 'better-sqlite3'
import { AuditLog } from 'daybook'
import {
  captureAs,
  captureChanges,
  removeCapture,
  type SqliteCaptureOptions,
  sqliteStore,
} from 'daybook/sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../support/temp.js'
import {
  capturedIn,
  describeCapture,
  each,
  insertOrder,
  TABLES,
  typesOf,
  usersOf,
} from '../shared/capture.js'

let temp: ReturnType<typeof tempDir>
let database: Database.Database
let audit: AuditLog

beforeEach(() => {
  temp = tempDir()
  const filename = temp.file('app.db')
  audit = new AuditLog({ store: sqliteStore({ filename }), types: {} })
  database = new Database(filename)
  database.pragma('foreign_keys = ON')
  database.exec(TABLES)
})
afterEach(async () => {
  database.close()
  await audit.close()
  temp.remove()
})

const capture = (options: Partial<SqliteCaptureOptions> = {}) =>
  captureChanges({ database, tables: ['orders', 'lines'], ...options })

const captured = () => capturedIn(audit)

const insert = (id: string): unknown => database.exec(insertOrder(id))

/** Runs statements, as a store of another database would. */
const sql = async (text: string): Promise<unknown> => database.exec(text)

describeCapture({
  audit: () => audit,
  sql,
  connect: (act) => act({ sql, as: async (...given) => captureAs(database, ...given) }),
  capture: async (options) => capture(options),
  remove: async (tables) => removeCapture({ database, ...(tables && { tables }) }),
  version: async () => database.pragma('schema_version', { simple: true }),
  triggers: async () =>
    database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all(),
  columns: 600,
  refused: {
    'seen is a view in': { tables: ['seen'] },
    'the table daybook_outbox belongs to the log': { tables: ['daybook_outbox'] },
    'database must be a handle of better-sqlite3 or node:sqlite': { database: {} },
  },
})

describe('captured changes', () => {
  it('see a change of case, whatever the collation of the column', async () => {
    database.exec('CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)')
    capture({ tables: ['people'] })
    database.exec(`INSERT INTO people VALUES (1, 'Bob'); UPDATE people SET name = 'bob'`)
    database.exec(`UPDATE people SET name = 'Bob'`)
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
    expect(each(events, 'after')).toEqual([
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
})

describe('what the guide says is not captured', () => {
  it('is a row that REPLACE removes, unless triggers are recursive', async () => {
    capture()
    const replace = `INSERT OR REPLACE INTO orders (id, total) VALUES ('A', 1)`
    database.exec(`${replace}; ${replace}; PRAGMA recursive_triggers = ON; ${replace}`)
    const actions = typesOf(await captured()).map((type) => type.split(':').at(-1))
    expect(actions).toEqual(['create', 'create', 'destroy', 'create'])
  })

  it('is a dropped column, which SQLite refuses to drop before the triggers', () => {
    capture()
    expect(() => database.exec('ALTER TABLE orders DROP COLUMN remark')).toThrow('daybook_capture_')
    removeCapture({ database, tables: ['orders'] })
    database.exec('ALTER TABLE orders DROP COLUMN remark')
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
    expect(each(await captured(), 'order_id')).toEqual(['B'])
  })

  it('is a renamed table, after captureChanges on only the table that has taken its name', async () => {
    capture({ tables: ['orders'] })
    database.exec(
      `ALTER TABLE orders RENAME TO sales; CREATE TABLE orders (id TEXT PRIMARY KEY, total)`,
    )
    capture({ tables: ['orders'] })
    database.exec(`INSERT INTO sales (id) VALUES ('A')`)
    insert('B')
    expect(each(await captured(), 'order_id')).toEqual(['B'])
  })
})

describe('captureAs', () => {
  it('returns or throws at once with a handle, unless it returns a promise', async () => {
    capture()
    database.transaction(() => {
      captureAs(database, 'ann', () => insert('A'))
      insert('B')
    })()
    database.exec('BEGIN')
    const given = captureAs(database, 'bob', async () => {
      await Promise.resolve()
      insert('C')
      return 'result'
    })
    expect(await given).toBe('result')
    expect(() =>
      captureAs(database, 'eve', () => {
        throw new Error('mine')
      }),
    ).toThrow('mine')
    insert('D')
    database.exec('COMMIT')
    expect(usersOf(await captured())).toEqual([
      ['A', 'ann'],
      ['B', null],
      ['C', 'bob'],
      ['D', null],
    ])
  })

  it('is refused without a transaction, and where nothing is captured', () => {
    const run = (): unknown => captureAs(database, 'ann', () => {})
    const refused = (message: string) =>
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringContaining(message) })
    expect(run).toThrow(refused('no transaction is open'))
    expect(database.transaction(run)).toThrow(refused('run captureChanges'))
  })
})

describe('captureChanges', () => {
  it('replaces the triggers of renamed columns, which work meanwhile', async () => {
    capture({ exclude: ['remark'] })
    database.exec(`ALTER TABLE orders ADD COLUMN paid; INSERT INTO orders VALUES ('A', 1, 'x', 1)`)
    expect(capture({ exclude: ['remark'] })).toMatchObject({ replaced: ['orders'] })
    database.exec(`ALTER TABLE orders RENAME COLUMN total TO sum; UPDATE orders SET sum = 2`)
    database.exec(`UPDATE orders SET paid = 0`)
    expect(each(await captured(), 'after')).toEqual([
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

  it('leaves no transaction open if it is refused', () => {
    expect(() => capture({ tables: ['nowhere'] })).toThrow('there is no table nowhere')
    expect(database.inTransaction).toBe(false)
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

import Database from 'better-sqlite3'
import { AuditLog, type HistoryEntry, type JsonValue, revertPatch } from 'daybook'
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
  it('notice a change of case, with any collation of the column', async () => {
    database.exec('CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)')
    capture({ tables: ['people'] })
    database.exec(`INSERT INTO people VALUES (1, 'Bob'); UPDATE people SET name = 'bob'`)
    database.exec(`UPDATE people SET name = 'Bob'`)
    expect((await captured()).length).toBe(3)
  })

  it('hold any name', async () => {
    database.exec(`
      CREATE TABLE "odd ""name's~/" ("a""b'~/c" PRIMARY KEY, "its", "after", "true" DEFAULT 0, "select" INTEGER GENERATED ALWAYS AS (1)) WITHOUT ROWID`)
    expect(capture({ tables: [`odd "name's~/`] }).installed).toEqual([`odd "name's~/`])
    database.exec(`INSERT INTO "odd ""name's~/" VALUES (1, x'6162', ', "after":{}', 0)`)
    database.exec(`UPDATE "odd ""name's~/" SET its = x'0102', "a""b'~/c" = 2`)
    const events = await captured()
    const key = `a"b'~/c`
    const [first, second] = [1, 2].map((id) => ({
      [key]: id,
      its: { bytes: 2 },
      after: ', "after":{}',
      true: 0,
      select: 1,
    }))
    const name = `odd "name's~/`
    expect(events.map(({ attributes }) => attributes)).toEqual([
      { table: name, [`${name}_id`]: 1, after: first },
      {
        table: name,
        [`${name}_id`]: 2,
        [`previous_${name}_id`]: 1,
        before: first,
        after: second,
        changes: [
          { op: 'replace', path: `/a"b'~0~1c`, value: 2, old_value: 1 },
          { op: 'replace', path: '/its', value: { bytes: 2 }, old_value: { bytes: 2 } },
        ],
      },
    ])
  })

  const deep = '['.repeat(999) + ']'.repeat(999)
  const deepSql = `printf('%.*c', 999, '[') || printf('%.*c', 999, ']')`

  /** Values of a column without a type, by SQL, as events have them. */
  it.each<[string, JsonValue, (readonly string[])?]>([
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', '9007199254740993', ['/after/x']],
    ['-9223372036854775808', '-9223372036854775808', ['/after/x']],
    ['0.1 + 0.2', 0.1 + 0.2],
    ['7.0', 7],
    ['1e300', 1e300],
    ['5e-324', 5e-324],
    ['1.7976931348623157e308', Number.MAX_VALUE],
    ['9e999', 'Infinity', ['/after/x']],
    ['-9e999', '-Infinity', ['/after/x']],
    [`'tab' || char(9) || '"\\ 𝒳'`, 'tab\t"\\ 𝒳'],
    [`'a' || char(0) || 'b'`, 'a\uFFFDb', ['/after/x']],
    [`CAST(x'ff22e2' AS TEXT)`, '\uFFFD"\uFFFD'],
    [`x'736563726574'`, { bytes: 6 }],
    [`jsonb('{"a":1}')`, { bytes: 5 }],
    [`'{"a":1,"a":2}'`, '{"a":1,"a":2}'],
    [`json('{"a":1}')`, '{"a":1}'],
    [`'[' || ${deepSql} || ']'`, `[${deep}]`],
    [`json(${deepSql})`, deep],
  ])('hold the value %s', async (value, expected, replaced) => {
    database.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, x)')
    capture({ tables: ['things'] })
    database.exec(`INSERT INTO things VALUES (1, ${value})`)
    const [event] = await captured()
    expect(event!.attributes).toEqual({
      table: 'things',
      thing_id: 1,
      after: { id: 1, x: expected },
      ...(replaced && { recording: { replaced, cut_bytes: 0 } }),
    })
  })

  it('see a change of the type, and lead back to an exact value', async () => {
    database.exec('CREATE TABLE things (id INTEGER PRIMARY KEY, x)')
    capture({ tables: ['things'] })
    database.exec('INSERT INTO things VALUES (1, 9007199254740993)')
    for (const value of ['9007199254740992', '1', '1.0', `'1'`, `x'31'`, `x'31'`])
      database.exec(`UPDATE things SET x = ${value}`)
    const [, exact, ...others] = await captured()
    expect(exact!.attributes).toMatchObject({
      recording: {
        replaced: ['/before/x', '/after/x'],
        cut_bytes: 0,
      },
    })
    expect(revertPatch(exact!)).toEqual([{ op: 'replace', path: '/x', value: '9007199254740993' }])
    expect(others.map(({ attributes: { after } }) => after)).toEqual(
      [1, 1, '1', { bytes: 1 }].map((x) => ({ id: 1, x })),
    )
  })

  it('do not fail for a text or a key above the size of an event', async () => {
    database.exec('CREATE TABLE things (id PRIMARY KEY, x)')
    capture({ tables: ['things'] })
    const length = 1_500_000
    database.exec(`
      INSERT INTO things VALUES (9007199254740993, printf('%.*c', ${length}, char(1)));
      UPDATE things SET id = printf('%.*c', 2000000, 'k'), x = 1`)
    const events = await captured()
    expect(events.map(({ attributes }) => attributes)).toEqual([
      {
        table: 'things',
        thing_id: '9007199254740993',
        recording: { replaced: ['/before', '/after'], cut_bytes: length + 16 },
      },
      {
        table: 'things',
        thing_id: null,
        previous_thing_id: '9007199254740993',
        recording: {
          replaced: ['/before', '/after'],
          cut_bytes: length + 16 + 2_000_001,
        },
      },
    ])
  })

  it('have a bounded actor, whose attributes do not replace those of the row', async () => {
    capture()
    database.exec(`
      INSERT INTO daybook_actor VALUES (char(0) || printf('%.*c', 2000000, 'u'), json_object(
        'session_id', printf('%.*c', 2000000, 's'), 'request_id', 'r', 'trace_id', 7, 'table', 'other', 'more', 1
      ));
      ${insertOrder('A')}`)
    const [event] = await captured()
    expect(event).toMatchObject({ username: `\uFFFD${'u'.repeat(999)}` })
    expect(event!.attributes).toEqual({
      table: 'orders',
      order_id: 'A',
      after: { id: 'A', total: 1, remark: null },
      request_id: 'r',
      recording: { replaced: ['/username', '/session_id'], cut_bytes: 0 },
    })
  })

  it('have no states if only the states fit, but not the changes too', async () => {
    capture()
    database.exec(`${insertOrder('A')}; UPDATE orders SET remark = printf('%.*c', 400000, 'a')`)
    database.exec(
      `UPDATE orders SET remark = printf('%.*c', 400000, 'b'), total = 9007199254740993`,
    )
    const [, one, two] = await captured()
    expect(one!.attributes).toHaveProperty('changes.0.value')
    expect(two!.attributes).toEqual({
      table: 'orders',
      order_id: 'A',
      recording: { replaced: ['/before', '/after'], cut_bytes: expect.closeTo(1_600_000, -3) },
    })
  })
})

describe('the order of captured changes', () => {
  const NOTE = `AFTER INSERT ON orders BEGIN UPDATE orders SET remark = 'x' WHERE id = NEW.id; END`
  const AGAIN = `AFTER UPDATE ON orders WHEN NEW.remark <> 'y' BEGIN
    UPDATE orders SET remark = 'y', total = NEW.total + 1 WHERE id = NEW.id; END`
  const [insertA, insertB] = [insertOrder('A', 1), insertOrder('B', 2)]

  /** Set-up before and after `captureChanges`, a statement, and the actions. */
  it.each<[string, string, string, string, readonly string[]]>([
    ['an older trigger', `CREATE TRIGGER one ${NOTE}`, '', insertA, ['create', 'update']],
    ['a newer trigger', '', `CREATE TRIGGER one ${NOTE}`, insertA, ['create', 'update']],
    ['a temporary trigger', '', `CREATE TEMP TRIGGER one ${NOTE}`, insertA, ['create', 'update']],
    [
      'two triggers, one of which runs within the other',
      `CREATE TRIGGER zero AFTER DELETE ON orders BEGIN DELETE FROM lines; END`,
      `CREATE TRIGGER one ${NOTE}; CREATE TRIGGER two ${AGAIN}`,
      `INSERT INTO orders (id, total) VALUES ('A', 1), ('B', 1)`,
      ['create', 'update', 'update', 'create', 'update', 'update'],
    ],
    [
      'a trigger that changes another table, and the row twice',
      '',
      `CREATE TRIGGER one AFTER INSERT ON orders BEGIN
        UPDATE orders SET total = 5 WHERE id = NEW.id;
        INSERT INTO lines VALUES (NEW.id, 1, 'x');
        UPDATE orders SET total = 6 WHERE id = NEW.id; END`,
      insertA,
      ['create', 'update', 'create', 'update'],
    ],
    [
      'a trigger that deletes the row',
      '',
      `CREATE TRIGGER one AFTER INSERT ON orders BEGIN DELETE FROM orders WHERE id = NEW.id; END`,
      insertA,
      ['create', 'destroy'],
    ],
    [
      'a trigger that changes the key',
      '',
      `CREATE TRIGGER one AFTER INSERT ON orders BEGIN UPDATE orders SET id = 'B' WHERE id = NEW.id; END`,
      insertA,
      ['create', 'update'],
    ],
    [
      'a trigger that inserts the row again',
      '',
      `CREATE TRIGGER one AFTER DELETE ON orders WHEN OLD.total = 1 BEGIN
        INSERT INTO orders (id, total) VALUES (OLD.id, 9); END`,
      `${insertA}; ${insertB}; DELETE FROM orders`,
      ['create', 'create', 'destroy', 'create', 'destroy'],
    ],
    [
      'a BEFORE trigger that inserts another row',
      '',
      `CREATE TRIGGER one BEFORE INSERT ON orders WHEN NEW.id = 'A' BEGIN ${insertB}; END`,
      insertA,
      ['create', 'create'],
    ],
    [
      'rows that an upsert changes twice',
      '',
      `CREATE TRIGGER two ${AGAIN}`,
      `INSERT INTO orders VALUES ('A', 1, ''), ('A', 3, ''), ('A', 5, '') ON CONFLICT DO UPDATE SET total = excluded.total, remark = ''`,
      ['create', 'update', 'update', 'update', 'update'],
    ],
    [
      'an INSTEAD OF trigger of a view',
      '',
      `CREATE VIEW sold AS SELECT * FROM orders;
      CREATE TRIGGER one INSTEAD OF INSERT ON sold BEGIN ${insertA}; UPDATE orders SET total = 4; END`,
      `INSERT INTO sold (id) VALUES ('A')`,
      ['create', 'update'],
    ],
    [
      'UPDATE FROM',
      '',
      '',
      `${insertA}; ${insertB}; UPDATE orders SET total = 5 FROM (SELECT 'A' AS one) WHERE id = one`,
      ['create', 'create', 'update'],
    ],
    [
      'a row that refers to itself',
      `DROP TABLE orders;
      CREATE TABLE orders (id TEXT PRIMARY KEY, total INT, remark TEXT REFERENCES orders ON UPDATE CASCADE)`,
      '',
      `INSERT INTO orders VALUES ('A', 1, 'A'); UPDATE orders SET id = 'B'`,
      ['create', 'update', 'update'],
    ],
    [
      'a strict table without a rowid',
      `DROP TABLE orders;
      CREATE TABLE orders (id TEXT COLLATE NOCASE PRIMARY KEY, total INT, remark ANY) STRICT, WITHOUT ROWID`,
      `CREATE TRIGGER one ${NOTE}`,
      `${insertA}; UPDATE orders SET id = 'a'; UPDATE orders SET id = 'B'`,
      ['create', 'update', 'update', 'update'],
    ],
    [
      'a table whose columns have the names of the rowid',
      `DROP TABLE orders; CREATE TABLE orders (rowid, oid, _rowid_, id TEXT PRIMARY KEY, total, remark)`,
      `CREATE TRIGGER one ${NOTE}`,
      `${insertA}; DELETE FROM orders`,
      ['create', 'update', 'destroy'],
    ],
  ])('is the order in which the row changed: %s', async (_, before, after, statement, actions) => {
    database.exec(before)
    capture()
    database.exec(after)
    database.exec(statement)
    const events = await captured()
    expect(typesOf(events).map((type) => type.split(':').at(-1))).toEqual(actions)
    for (const order_id of ['A', 'a', 'B']) {
      const rows: HistoryEntry[] = []
      for await (const entry of audit.history({ order_id, table: 'orders' })) rows.push(entry)
      const has = database.prepare('SELECT * FROM orders WHERE id = ? COLLATE BINARY').get(order_id)
      expect(rows.at(-1)?.state ?? undefined).toEqual(has)
      // Each change begins with the state after the one before.
      for (const [i, { event }] of rows.slice(1).entries())
        expect(event.attributes['before'] ?? null).toEqual(rows[i]!.state)
    }
  })
})

describe('changes that are not captured according to the guide', () => {
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

  it('include a table that is dropped and created again, until captureChanges runs', async () => {
    capture()
    database.exec(
      `DROP TABLE lines; DROP TABLE orders; CREATE TABLE orders (id TEXT PRIMARY KEY, total)`,
    )
    insert('A')
    capture({ tables: ['orders'] })
    insert('B')
    expect(each(await captured(), 'order_id')).toEqual(['B'])
  })

  it('is a renamed table, after captureChanges on the new table with its old name', async () => {
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
  it('replaces the triggers of renamed columns, which work until then', async () => {
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

  it('refuses a table that a temporary table of the handle hides', async () => {
    capture()
    database.exec('CREATE TEMP TABLE Orders (id)')
    expect(() => capture({ exclude: ['remark'] })).toThrow('called orders too: drop it first')
    database.exec('DROP TABLE temp.Orders')
    insert('A')
    expect(each(await captured(), 'order_id')).toEqual(['A'])
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

import { type AuditEvent, AuditLog, type HistoryEntry, revertPatch } from 'daybook'
import { fromKysely } from 'daybook/orm'
import {
  captureAs,
  captureChanges,
  postgresStore,
  type PostgresCaptureOptions,
  removeCapture,
} from 'daybook/postgres'
import { Kysely, PostgresDialect } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { redact } from '../../../src/event/redact.js'
import { isSensitive } from '../../../src/event/secrets.js'
import { SECRET_NAMES } from '../../support/secret-names.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { type CaptureRow, expectActors, REFUSED } from '../shared/captured-actors.js'

let test: TestDatabase
let audit: AuditLog
let number = 0
let schema: string

beforeAll(async () => {
  test = await postgresDatabase()
})
afterAll(() => test.remove())

const sql = async (text: string, ...values: unknown[]): Promise<readonly unknown[]> =>
  (await test.pool.query(text, values)).rows as unknown[]

// Each test has a log and a schema of tables of its own.
beforeEach(async () => {
  number++
  schema = `log ${number}`
  audit = new AuditLog({ store: postgresStore({ pool: test.pool, schema }), types: {} })
  await audit.list()
  await sql(`
    CREATE SCHEMA app;
    CREATE TABLE app.orders (id text PRIMARY KEY, total numeric, note text);
    CREATE TABLE app.lines (
      order_id text REFERENCES app.orders ON DELETE CASCADE, line int, product text,
      PRIMARY KEY (order_id, line)
    )`)
})
afterEach(async () => {
  await audit.close()
  await sql('DROP SCHEMA app CASCADE')
})

const ORDERS = { name: 'app.orders', subject: 'orders' }
const LINES = { name: 'app.lines', subject: 'lines' }

const capture = (options: Partial<PostgresCaptureOptions> = {}) =>
  captureChanges({ pool: test.pool, schema, tables: [ORDERS, LINES], ...options })

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

const insert = (id: string, total = 1): Promise<unknown> =>
  sql('INSERT INTO app.orders (id, total) VALUES ($1, $2)', id, total)

describe('captured changes', () => {
  it('are events with the row before and after, in order', async () => {
    await capture()
    await insert('A', 99.5)
    await sql(`UPDATE app.orders SET total = 100.10, note = 'x' WHERE id = 'A'`)
    await audit.recordCustom('between')
    await sql(`DELETE FROM app.orders`)
    const before = { id: 'A', total: 99.5, note: null }
    const after = { id: 'A', total: 100.1, note: 'x' }
    const identity = { table: 'orders', order_id: 'A' }
    const shown = (await captured()).map(({ type, attributes }) => [type, attributes])
    expect(shown).toEqual([
      ['audit:orders:create', { ...identity, after: before }],
      [
        'audit:orders:update',
        {
          ...identity,
          before,
          after,
          changes: expect.arrayContaining([
            { op: 'replace', path: '/total', value: 100.1, old_value: 99.5 },
            { op: 'replace', path: '/note', value: 'x', old_value: null },
          ]),
        },
      ],
      ['audit:orders:destroy', { ...identity, before: after }],
    ])
    const { events } = await audit.list()
    expect(events.map(({ type }) => type)).toEqual([
      'audit:orders:create',
      'audit:orders:update',
      'between',
      'audit:orders:destroy',
      'end',
    ])
    const found = await audit.list('filter[after_total_gt]=100&filter[changes_path_eq]=/note')
    expect(found.events.map(({ type }) => type)).toEqual(['audit:orders:update'])
    expect(await audit.verify()).toMatchObject({ damage: [] })
  })

  it('have a history, and can be undone', async () => {
    await capture()
    await insert('A', 1)
    for (const total of [2, 3]) await sql('UPDATE app.orders SET total = $1', total)
    await sql('DELETE FROM app.orders')
    const events = await captured()
    const entries: HistoryEntry[] = []
    for await (const entry of audit.history({ order_id: 'A' })) entries.push(entry)
    const states = entries.map(({ state }) => (state as { total: number } | null)?.total)
    expect(states).toEqual([1, 2, 3, undefined])
    expect(entries.at(-1)!.state).toBeNull()
    expect(revertPatch(events[1]!)).toEqual([{ op: 'replace', path: '/total', value: 1 }])
  })

  it('include those of bulk statements, upserts, cascades and TRUNCATE; rolled back ones leave nothing', async () => {
    await capture()
    for (const id of ['A', 'B', 'C']) await insert(id)
    await sql(`
      INSERT INTO app.lines VALUES ('A', 1, 'x'), ('A', 2, 'y');
      UPDATE app.orders SET total = total + 1;
      UPDATE app.orders SET total = total;
      INSERT INTO app.orders VALUES ('A', 5) ON CONFLICT (id) DO UPDATE SET total = 5;
      INSERT INTO app.orders VALUES ('A', 6) ON CONFLICT DO NOTHING`)
    const client = await test.pool.connect()
    await client.query('BEGIN; DELETE FROM app.orders; ROLLBACK')
    await client.query('BEGIN; SAVEPOINT one; DELETE FROM app.orders; ROLLBACK TO one; COMMIT')
    client.release()
    await sql(`DELETE FROM app.orders WHERE id = 'A'`)
    await sql('TRUNCATE app.orders CASCADE')
    const found = await captured()
    const counts = new Map<string, number>()
    for (const { type } of found) counts.set(type, (counts.get(type) ?? 0) + 1)
    expect(Object.fromEntries(counts)).toEqual({
      'audit:orders:create': 3,
      'audit:lines:create': 2,
      'audit:orders:update': 4,
      'audit:lines:destroy': 2,
      'audit:orders:destroy': 1,
      'audit:orders:truncate': 1,
      'audit:lines:truncate': 1,
    })
    const line = found.find(({ type }) => type === 'audit:lines:create')!
    expect(line.attributes).toMatchObject({ primary_key: { order_id: 'A', line: 1 } })
    const truncated = found.find(({ type }) => type === 'audit:orders:truncate')!
    expect(truncated.attributes).toEqual({ table: 'orders' })
  })

  it('include those of partitions, also of later ones', async () => {
    await sql(`
      CREATE TABLE app.hits (day date, id bigint, n int, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
      CREATE TABLE app.hits_1 PARTITION OF app.hits FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')`)
    await capture({ tables: [{ name: 'app.hits', subject: 'hits' }] })
    await sql(`
      CREATE TABLE app.hits_2 PARTITION OF app.hits FOR VALUES FROM ('2026-02-01') TO ('2026-03-01');
      INSERT INTO app.hits VALUES ('2026-01-05', 1, 1), ('2026-02-05', 9007199254740993, 1);
      UPDATE app.hits_2 SET n = 2;
      UPDATE app.hits SET day = '2026-02-06' WHERE id = 1`)
    const events = await captured()
    expect(events.map(({ type }) => type)).toEqual([
      ...['audit:hits:create', 'audit:hits:create', 'audit:hits:update'],
      // The row moves to another partition.
      ...['audit:hits:destroy', 'audit:hits:create'],
    ])
    expect(events[2]!.attributes).toMatchObject({
      table: 'hits',
      primary_key: { day: '2026-02-05', id: '9007199254740993' },
    })
  })

  it('hold any value and any name', async () => {
    await sql(`
      CREATE DOMAIN app.money AS numeric;
      CREATE TABLE app."odd ""name's.$daybook$~/\\" (
        "a""b'~/c\\" int PRIMARY KEY, n app.money, b bigint, f float8, x bytea, j jsonb, t timestamptz, s text[]
      )`)
    const name = `app.odd "name's.$daybook$~/\\`
    const key = `a"b'~/c\\`
    await capture({ tables: [name] })
    const add = (...values: readonly unknown[]): Promise<unknown> =>
      sql(
        `INSERT INTO app."odd ""name's.$daybook$~/\\" VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
        ...values,
      )
    const time = '2026-03-01T12:00:00+02:00'
    await add(
      1,
      '0.1234567890123456789',
      '9007199254740993',
      0.1 + 0.2,
      Buffer.from('ab'),
      '[1]',
      time,
      ['a'],
    )
    await add(2, 'NaN', '-9223372036854775808', Infinity, null, null, null, null)
    await add(
      3,
      '1e-350',
      7,
      1e300,
      null,
      '{"api_key":"x","deep":[{"password":"y","n":1}]}',
      null,
      null,
    )
    await add(4, '12.500', 0, 5e-324, null, '"text"', 'infinity', null)
    await sql(`UPDATE app."odd ""name's.$daybook$~/\\" SET "a""b'~/c\\" = 5 WHERE "a""b'~/c\\" = 4`)
    const events = await captured()
    const none = { x: null, j: null, t: null, s: null }
    const redacted = { api_key: '[redacted]', deep: [{ password: '[redacted]', n: 1 }] }
    expect(events.map(({ attributes }) => attributes['after'])).toEqual([
      {
        ...{ [key]: 1, n: '0.1234567890123456789', b: '9007199254740993', f: 0.1 + 0.2 },
        ...{ x: { bytes: 2 }, j: [1], t: '2026-03-01T10:00:00+00:00', s: ['a'] },
      },
      { ...none, [key]: 2, n: 'NaN', b: '-9223372036854775808', f: 'Infinity' },
      { ...none, [key]: 3, n: expect.stringMatching(/^0\.0+1$/), b: 7, f: 1e300, j: redacted },
      { ...none, [key]: 4, n: 12.5, b: 0, f: 5e-324, j: 'text', t: 'infinity' },
      { ...none, [key]: 5, n: 12.5, b: 0, f: 5e-324, j: 'text', t: 'infinity' },
    ])
    expect(events[4]!.attributes['changes']).toEqual([
      { op: 'replace', path: `/a"b'~0~1c\\`, value: 5, old_value: 4 },
    ])
    expect(await audit.verify()).toMatchObject({ damage: [] })
  })

  it('hold rows of as many columns as a table can have', async () => {
    const names = Array.from({ length: 1599 }, (_, i) => `c${i}`)
    await sql(
      `CREATE TABLE app.wide (id int PRIMARY KEY, ${names.map((name) => `${name} int`).join(', ')})`,
    )
    await capture({ tables: [{ name: 'app.wide', subject: 'wide' }] })
    await sql('INSERT INTO app.wide (id) VALUES (1); UPDATE app.wide SET c1598 = 1')
    const [, update] = await captured()
    expect(update!.attributes['changes']).toEqual([
      { op: 'replace', path: '/c1598', value: 1, old_value: null },
    ])
  })

  it('leave out states above the size of an event', async () => {
    await capture()
    await insert('A')
    await sql('UPDATE app.orders SET note = $1', 'x'.repeat(1_100_000))
    const [, large] = await captured()
    expect(large!.attributes).toEqual({
      table: 'orders',
      order_id: 'A',
      recording: { replaced: ['/before', '/after'], cut_bytes: expect.any(Number) },
    })
  })

  it('name the resource of a link attribute as their source', async () => {
    await sql(`CREATE TABLE app.projects (id text PRIMARY KEY)`)
    await capture({ tables: [{ name: 'app.projects', subject: 'projects' }] })
    const id = '0190B6A4-64A1-7000-8000-000000000001'
    await sql(`INSERT INTO app.projects VALUES ($1), ('acme')`, id)
    const events = await captured()
    expect(events.map(({ source }) => source)).toEqual([`/api/projects/${id.toLowerCase()}`, null])
    expect(events[0]!.attributes['project_id']).toBe(id)
  })

  it('hide secrets, also in columns that come later, and leave out excluded columns', async () => {
    await sql(
      `CREATE TABLE app.users (id int PRIMARY KEY, name text, password_hash text, seen_at text)`,
    )
    await capture({ tables: [{ name: 'app.users', subject: 'users' }], exclude: ['seen_at'] })
    await sql(`
      INSERT INTO app.users VALUES (1, 'ann', 'secret 1', 'now');
      UPDATE app.users SET seen_at = 'later';
      UPDATE app.users SET password_hash = 'secret 2', seen_at = 'then';
      ALTER TABLE app.users ADD COLUMN "apiToken" text, ADD COLUMN email text, DROP COLUMN name;
      UPDATE app.users SET "apiToken" = 'secret 3', email = 'ann@example.org'`)
    const events = await captured()
    const old_value = '[redacted]'
    expect(events.length).toBe(3)
    expect(events[1]!.attributes['changes']).toEqual([
      { op: 'replace', path: '/password_hash', value: old_value, old_value },
    ])
    expect(events[2]!.attributes['after']).toEqual({
      id: 1,
      password_hash: '[redacted]',
      apiToken: '[redacted]',
      email: 'ann@example.org',
    })
    expect(() => revertPatch(events[1]!)).toThrow('the old value of /password_hash is redacted')
  })

  it('hide the same keys as all other events', async () => {
    await capture()
    const keys = [
      ...[
        'password',
        'Passwort',
        'apiKey',
        'API-KEY',
        'api key',
        'shipping',
        'opinion',
        'pin',
        'user_pin2',
      ],
      ...[
        'sid',
        'SubjectUserSid',
        'SID',
        'token',
        'next_page_token',
        'max_tokens',
        'token_count',
        'tokenId',
      ],
      ...[
        'access_key_id',
        'secret_name',
        'passwordChangedAt',
        'card_number',
        'cardNo',
        'iban',
        'salt',
        '2faCode',
      ],
      ...[
        'dsn',
        'database_url',
        'authorization',
        'auth',
        'author',
        'cookie',
        'session_id',
        'terminalSessionId',
      ],
      ...[
        'elevated_token',
        'code',
        'otp',
        'hotplate',
        'cvv',
        'pwd',
        'bearer',
        '123',
        '',
        'über_token',
        'key',
        'hasLocation',
        'desenhar',
        'secretary',
        'palabra_clave',
        'größe',
        '암호화',
        '\u212aey',
      ],
      ...Object.values(SECRET_NAMES)
        .flat()
        .flatMap((name) => [name, name.normalize('NFD'), `user_${name}`]),
    ]
    const rows = await sql(
      `SELECT key, ${namesIn(schema).capture.isSecret}(key) AS hidden FROM unnest($1::text[]) AS key`,
      keys,
    )
    expect(rows).toEqual(keys.map((key) => ({ key, hidden: isSensitive(key) })))
  })

  it('hide the values beside the same keys', async () => {
    await capture()
    const values = [
      { name: 'password', value: 'hush' },
      { Name: 'Password', Value: ['hush'], other: 'x' },
      {
        a: [
          { key: 'passwort', value: 'hush' },
          { key: 'colour', value: 'red' },
        ],
      },
      { op: 'replace', path: '/user/password', value: 'hush' },
      { field: 'password', from: 'hush', to: null },
      { name: 'password', from: 'x' },
      { type: 'password', label: 'Password' },
      { name: 'password_policy', value: 'strict' },
      { name: 5, value: 'x' },
    ]
    const rows = await sql(
      `SELECT ${namesIn(schema).capture.json}(value) AS shown
       FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY AS of(value, i) ORDER BY i`,
      JSON.stringify(values),
    )
    // Triggers show that a value was null.
    const shown = redact(values) as typeof values
    Object.assign(shown[4]!, { to: null })
    expect(rows).toEqual(shown.map((value) => ({ shown: value })))
  })

  it('of a role without rights on the log are captured', async () => {
    await capture()
    const client = await test.pool.connect()
    const role = `writer_${test.name}`
    try {
      await client.query(`CREATE ROLE ${role}; GRANT USAGE ON SCHEMA app TO ${role}`)
      await client.query(`GRANT ALL ON ALL TABLES IN SCHEMA app TO ${role}; SET ROLE ${role}`)
      await client.query(`INSERT INTO app.orders VALUES ('A', 1)`)
      await client.query('RESET ROLE')
      expect((await captured()).length).toBe(1)
    } finally {
      await client.query(`RESET ROLE; DROP OWNED BY ${role}; DROP ROLE ${role}`)
      client.release()
    }
  })
})

describe('what the guide says is not captured', () => {
  it('are replicated statements and TRUNCATE of a partition', async () => {
    await sql(`
      CREATE TABLE app.hits (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE app.hits_1 PARTITION OF app.hits FOR VALUES FROM (0) TO (100)`)
    await capture({ tables: [ORDERS, { name: 'app.hits', subject: 'hits' }] })
    await sql('INSERT INTO app.hits VALUES (1); TRUNCATE app.hits_1; TRUNCATE app.hits')
    await sql(
      `SET session_replication_role = replica; INSERT INTO app.orders VALUES ('A'); RESET session_replication_role`,
    )
    const actions = (await captured()).map(({ type }) => type.split(':').at(-1))
    expect(actions).toEqual(['create', 'truncate'])
  })

  it('are json values that jsonb cannot hold, which fail', async () => {
    await sql('CREATE TABLE app.notes (id int PRIMARY KEY, body json)')
    await capture({ tables: [{ name: 'app.notes', subject: 'notes' }] })
    const add = sql(String.raw`INSERT INTO app.notes VALUES (1, '"\u0000"')`)
    await expect(add).rejects.toMatchObject({ code: '22P05' })
    expect(await captured()).toEqual([])
  })
})

describe('captureAs', () => {
  it('names the user of what the transaction changes meanwhile', async () => {
    await capture()
    const client = await test.pool.connect()
    const add = (id: string): Promise<unknown> =>
      client.query(`INSERT INTO app.orders VALUES ($1)`, [id])
    await client.query('BEGIN')
    await captureAs(client, "an'n", () => add('A'))
    await add('B')
    const failing = captureAs(client, 'eve', () => Promise.reject(new Error('mine')))
    await expect(failing).rejects.toThrow('mine')
    await add('C')
    await client.query('COMMIT; BEGIN')
    await client.query(`SELECT set_config('daybook.actor', 'bob', true)`)
    await add('D')
    await client.query('COMMIT')
    await add('E')
    client.release()
    const found = (await captured()).map(({ username, attributes }) => [
      attributes['order_id'],
      username,
    ])
    expect(found).toEqual([
      ['A', "an'n"],
      ['B', null],
      ['C', null],
      ['D', 'bob'],
      ['E', null],
    ])
  })

  it('works in the transaction of a query builder', async () => {
    await capture()
    const db = new Kysely<{ 'app.orders': { id: string; total: number } }>({
      dialect: new PostgresDialect({ pool: test.pool }),
    })
    const values = (id: string) => ({ id, total: 1 })
    await db.transaction().execute(async (trx) => {
      await captureAs(fromKysely(trx), 'ann', () =>
        trx.insertInto('app.orders').values(values('A')).execute(),
      )
      await trx.insertInto('app.orders').values(values('B')).execute()
    })
    const failing = db
      .transaction()
      .execute((trx) =>
        captureAs(fromKysely(trx), 'ann', () =>
          trx.insertInto('app.orders').values(values('A')).execute(),
        ),
      )
    await expect(failing).rejects.toThrow('duplicate key')
    await insert('C')
    expect((await captured()).map(({ username }) => username)).toEqual(['ann', null, null])
  })

  it('gives captured events the actor and the ids that recorded ones have', async () => {
    await sql('CREATE TABLE app.sessions (id text PRIMARY KEY)')
    await capture({ tables: [ORDERS, { name: 'app.sessions', subject: 'sessions' }] })
    const client = await test.pool.connect()
    const add = async (...[given, table, id]: Parameters<CaptureRow>): Promise<void> => {
      await client.query('BEGIN')
      await captureAs(client, ...given, () =>
        client.query(`INSERT INTO app.${table} (id) VALUES ($1)`, [id]),
      )
      await client.query('COMMIT')
    }
    await expectActors(audit, add, captured)
    client.release()
  })

  it('takes from the settings of the transaction only the name and attributes of actors', async () => {
    await capture()
    await sql(`BEGIN;
      SELECT set_config('daybook.actor', 'ann', true),
        set_config('daybook.attributes', '{"actor_kind":"user","after":1,"project_id":"x"}', true);
      INSERT INTO app.orders VALUES ('A'); COMMIT`)
    expect(await captured()).toMatchObject([
      {
        username: 'ann',
        attributes: {
          table: 'orders',
          order_id: 'A',
          after: { id: 'A', total: null, note: null },
          actor_kind: 'user',
        },
      },
    ])
    expect((await captured())[0]!.attributes).not.toHaveProperty('project_id')
  })

  it('is refused without a transaction, and with a bad actor', async () => {
    const client = await test.pool.connect()
    const run = (): never => expect.fail('ran')
    const refused = { code: 'INVALID_OPTION' }
    await expect(captureAs(client, 'ann', run)).rejects.toMatchObject(refused)
    await expect(captureAs(test.pool, 'ann', run)).rejects.toMatchObject(refused)
    for (const [given, message] of REFUSED)
      await expect(captureAs(client, ...(given as never))).rejects.toMatchObject({
        ...refused,
        message: expect.stringContaining(message),
      })
    client.release()
  })
})

describe('captureChanges', () => {
  it('changes nothing if it is repeated, and replaces triggers for other options or columns', async () => {
    const none = { installed: [], replaced: [], unchanged: [] }
    const names = ['app.orders', 'app.lines']
    const versions = (): Promise<unknown> =>
      sql(
        `SELECT tgname, tgrelid, xmin FROM pg_trigger UNION ALL SELECT proname, oid, xmin FROM pg_proc ORDER BY 1, 2`,
      )
    const [first, second] = await Promise.all([capture(), capture()])
    expect([first, second]).toContainEqual({ ...none, installed: names })
    expect([first, second]).toContainEqual({ ...none, unchanged: names })
    const before = await versions()
    expect(await capture()).toEqual({ ...none, unchanged: names })
    expect(await versions()).toEqual(before)
    expect(await capture({ tables: [{ ...ORDERS, exclude: ['note'] }, LINES] })).toEqual({
      ...none,
      replaced: ['app.orders'],
      unchanged: ['app.lines'],
    })
    await sql('ALTER TABLE app.lines ADD COLUMN price bigint')
    expect(await capture({ tables: [LINES] })).toEqual({ ...none, replaced: ['app.lines'] })
    await sql('ALTER TABLE app.lines DISABLE TRIGGER ALL')
    expect(await capture({ tables: [LINES] })).toEqual({ ...none, replaced: ['app.lines'] })
    await insert('A')
    expect((await captured()).map(({ attributes }) => attributes['after'])).toEqual([
      { id: 'A', total: 1 },
    ])
  })

  it('breaks no write when the table changes', async () => {
    await capture()
    await sql(`
      ALTER TABLE app.orders RENAME COLUMN id TO code;
      ALTER TABLE app.orders DROP COLUMN note;
      ALTER TABLE app.orders RENAME TO sales;
      ALTER TABLE app.sales ADD COLUMN big bigint DEFAULT 9007199254740993;
      INSERT INTO app.sales (code) VALUES ('A')`)
    const [event] = await captured()
    expect(event!.attributes).toMatchObject({
      table: 'orders',
      order_id: null,
      after: { code: 'A' },
    })
    expect(await capture({ tables: ['app.sales'] })).toMatchObject({ replaced: ['app.sales'] })
    await sql(`INSERT INTO app.sales (code) VALUES ('B')`)
    expect((await captured())[1]!.attributes).toMatchObject({
      table: 'app.sales',
      sale_id: 'B',
      after: { big: '9007199254740993' },
    })
  })

  it('is undone by removeCapture', async () => {
    await capture()
    await insert('A')
    const remove = (tables?: readonly string[]) =>
      removeCapture({ pool: test.pool, schema, ...(tables && { tables }) })
    expect(await remove(['app.lines'])).toEqual(['app.lines'])
    await insert('B')
    expect(await remove()).toEqual(['app.orders'])
    expect(await remove()).toEqual([])
    await insert('C')
    expect((await captured()).length).toBe(2)
    const functions = await sql(
      `SELECT FROM pg_proc WHERE pronamespace = to_regnamespace($1) AND prorettype = 'trigger'::regtype
         AND proname LIKE 'capture%'`,
      `"${schema}"`,
    )
    expect(functions).toEqual([])
  })

  it.each<[string, Partial<PostgresCaptureOptions>]>([
    ['there is no table nowhere in', { tables: ['nowhere'] }],
    ['app.seen is not a table', { tables: ['app.seen'] }],
    ['belongs to the log', { tables: ['log.outbox'] }],
    ['the table app.keyless has no primary key', { tables: ['app.keyless'] }],
    ['exclude: no table has a column notes; did you mean note?', { exclude: ['notes'] }],
    ['pool must be a Pool of pg', { pool: {} as never }],
    ['has no audit log: open the store and read from it once', { schema: 'unused' }],
  ])('refuses what it cannot capture: %s', async (message, options) => {
    await sql(`CREATE VIEW app.seen AS SELECT 1; CREATE TABLE app.keyless (a int, b int)`)
    const tables = options.tables?.map((name) =>
      name === 'log.outbox' ? `${schema}.outbox` : name,
    )
    await expect(capture({ ...options, ...(tables && { tables }) })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(message),
    })
  })
})

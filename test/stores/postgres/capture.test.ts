import { AuditLog } from 'daybook'
import {
  captureAs,
  captureChanges,
  postgresStore,
  type PostgresCaptureOptions,
  removeCapture,
} from 'daybook/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { redact } from '../../../src/event/redact.js'
import { isSensitive } from '../../../src/event/secrets.js'
import { SECRET_NAMES } from '../../support/secret-names.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { capturedIn, describeCapture, each, TABLES, typesOf } from '../shared/capture.js'

let test: TestDatabase
/** Finds the tables without the name of their schema. */
let pool: pg.Pool
let audit: AuditLog
let number = 0
let schema: string

beforeAll(async () => {
  test = await postgresDatabase()
  pool = new pg.Pool({ connectionString: test.url, options: '-c search_path=app' })
})
afterAll(async () => {
  await pool.end()
  await test.remove()
})

const sql = async (text: string, ...values: unknown[]): Promise<readonly unknown[]> =>
  (await pool.query(text, values)).rows as unknown[]

// Each test has a log and a schema of tables of its own.
beforeEach(async () => {
  number++
  schema = `log ${number}`
  audit = new AuditLog({ store: postgresStore({ pool: test.pool, schema }), types: {} })
  await audit.list()
  await sql(`CREATE SCHEMA app; ${TABLES}`)
})
afterEach(async () => {
  await audit.close()
  await sql('DROP SCHEMA app CASCADE')
})

const capture = (options: Partial<PostgresCaptureOptions> = {}) =>
  captureChanges({ pool, schema, tables: ['orders', 'lines'], ...options })

const captured = () => capturedIn(audit)

const remove = (tables?: readonly string[]) =>
  removeCapture({ pool, schema, ...(tables && { tables }) })

describeCapture({
  audit: () => audit,
  sql,
  async connect(act) {
    const client = await pool.connect()
    try {
      await act({
        sql: (text) => client.query(text),
        as: (...given) => captureAs(client, ...given),
      })
    } finally {
      client.release()
    }
  },
  capture,
  remove,
  version: () =>
    sql(
      `SELECT tgname, tgrelid, xmin FROM pg_trigger UNION ALL SELECT proname, oid, xmin FROM pg_proc ORDER BY 1, 2`,
    ),
  triggers: () =>
    sql(
      `SELECT tgname FROM pg_trigger WHERE tgname LIKE 'daybook_capture%'
       UNION ALL SELECT proname FROM pg_proc
       WHERE pronamespace = to_regnamespace($1) AND prorettype = 'trigger'::regtype AND proname LIKE 'capture%'`,
      `"${schema}"`,
    ),
  columns: 1599,
  refused: {
    'seen is not a table': { tables: ['seen'] },
    'pool must be a Pool of pg': { pool: {} },
    'has no audit log: open the store and read from it once': { schema: 'unused' },
  },
})

describe('captured changes', () => {
  it('include TRUNCATE, also of the tables that refer to the truncated one', async () => {
    await capture()
    await sql('TRUNCATE orders CASCADE')
    const found = await captured()
    expect(typesOf(found).toSorted()).toEqual(['audit:lines:truncate', 'audit:orders:truncate'])
    expect(found.find(({ type }) => type === 'audit:orders:truncate')!.attributes).toEqual({
      table: 'orders',
    })
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
    expect(typesOf(events)).toEqual([
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
    expect(each(events, 'after')).toEqual([
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

  it('hide secrets in columns that come later', async () => {
    await sql(`CREATE TABLE users (id int PRIMARY KEY, name text)`)
    await capture({ tables: ['users'] })
    await sql(`
      ALTER TABLE users ADD COLUMN "apiToken" text, ADD COLUMN email text, DROP COLUMN name;
      INSERT INTO users VALUES (1, 'secret', 'ann@example.org')`)
    expect(each(await captured(), 'after')).toEqual([
      { id: 1, apiToken: '[redacted]', email: 'ann@example.org' },
    ])
  })

  it('hide the same keys as all other events', async () => {
    await capture()
    const words = `password Passwort apiKey API-KEY shipping opinion pin user_pin2 sid SubjectUserSid SID
      token next_page_token max_tokens token_count tokenId access_key_id secret_name passwordChangedAt
      card_number cardNo iban salt 2faCode dsn database_url authorization auth author cookie session_id
      terminalSessionId elevated_token code otp hotplate cvv pwd bearer 123 über_token key hasLocation
      desenhar secretary palabra_clave größe 암호화`
    const keys = [
      ...words.split(/\s+/),
      ...['api key', '', '\u212aey'],
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
      CREATE TABLE hits (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE hits_1 PARTITION OF hits FOR VALUES FROM (0) TO (100)`)
    await capture({ tables: ['orders', 'hits'] })
    await sql('INSERT INTO hits VALUES (1); TRUNCATE hits_1; TRUNCATE hits')
    await sql(
      `SET session_replication_role = replica; INSERT INTO orders VALUES ('A'); RESET session_replication_role`,
    )
    const actions = typesOf(await captured()).map((type) => type.split(':').at(-1))
    expect(actions).toEqual(['create', 'truncate'])
  })

  it('are json values that jsonb cannot hold, which fail', async () => {
    await sql('CREATE TABLE notes (id int PRIMARY KEY, body json)')
    await capture({ tables: ['notes'] })
    const add = sql(String.raw`INSERT INTO notes VALUES (1, '"\u0000"')`)
    await expect(add).rejects.toMatchObject({ code: '22P05' })
    expect(await captured()).toEqual([])
  })
})

describe('captureAs', () => {
  it('takes from the settings of the transaction only the name and attributes of actors', async () => {
    await capture()
    await sql(`BEGIN;
      SELECT set_config('daybook.actor', 'ann', true),
        set_config('daybook.attributes', '{"actor_kind":"user","after":1,"project_id":"x"}', true);
      INSERT INTO orders VALUES ('A'); COMMIT; INSERT INTO orders VALUES ('B')`)
    const after = { total: null, remark: null }
    const found = await captured()
    expect(found.map(({ username, attributes }) => [username, attributes])).toEqual([
      ['ann', { table: 'orders', order_id: 'A', after: { id: 'A', ...after }, actor_kind: 'user' }],
      [null, { table: 'orders', order_id: 'B', after: { id: 'B', ...after } }],
    ])
  })

  it('is refused for a pool', async () => {
    const run = (): never => expect.fail('ran')
    await expect(captureAs(test.pool, 'ann', run)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})

describe('captureChanges', () => {
  it('creates the triggers once if it runs twice at the same time', async () => {
    const none = { installed: [], replaced: [], unchanged: [] }
    const names = ['orders', 'lines']
    const both = await Promise.all([capture(), capture()])
    expect(both).toContainEqual({ ...none, installed: names })
    expect(both).toContainEqual({ ...none, unchanged: names })
  })

  it('replaces triggers that are disabled', async () => {
    await capture()
    await sql('ALTER TABLE lines DISABLE TRIGGER ALL')
    expect(await capture()).toMatchObject({ replaced: ['lines'], unchanged: ['orders'] })
  })

  it('breaks no write when the table changes', async () => {
    await capture()
    await sql(`
      ALTER TABLE app.orders RENAME COLUMN id TO code;
      ALTER TABLE app.orders DROP COLUMN remark;
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
    const removed = await removeCapture({ pool: test.pool, schema })
    expect(removed.toSorted()).toEqual(['app.lines', 'app.sales'])
  })

  it('refuses a table of the log', async () => {
    await expect(capture({ tables: [`${schema}.outbox`] })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('belongs to the log'),
    })
  })
})

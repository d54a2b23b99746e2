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

// Each test has a new log and a new schema of tables.
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

const BIG = '9007199254740993'
const LONG = '0.12345678901234567890'
const DEEP = `(repeat('[', 700) || repeat(']', 700))::json`
const both = (...places: readonly string[]): readonly string[] =>
  ['/before/v', '/after/v'].flatMap((row) => places.map((place) => `${row}${place}`))

/**
 * Values of a column before and after an update: as SQL, as events show them, and, where these differ, as the table
 * has them.
 */
const COLUMNS: Readonly<
  Record<
    string,
    {
      readonly from: string
      readonly to: string
      readonly shown: readonly [unknown, unknown]
      readonly replaced?: readonly string[]
    }
  >
> = {
  'app.mood': { from: `'low'`, to: `'high'`, shown: ['low', 'high'] },
  'app.mood[]': { from: `'{low,NULL}'`, to: `'{{high}}'`, shown: [['low', null], [['high']]] },
  'app.moods': { from: `'[low,high)'`, to: `'[low,high]'`, shown: ['[low,high)', '[low,high]'] },
  'app.place': { from: `'1 2'`, to: `'1 3'`, shown: ['1 2', '1 3'] },
  'app.place[]': { from: `'{1 2}'`, to: `'{"a,\\"b"}'`, shown: [['1 2'], ['a,"b']] },
  'app.secret_range': {
    from: `app.secret_range('\\x01', '\\x02')`,
    to: `app.secret_range('\\x01', '\\x03')`,
    shown: [{ bytes: expect.any(Number) }, { bytes: expect.any(Number) }],
    replaced: both(''),
  },
  json: { from: `'{"a":1,"a":2}'`, to: `'{"a":3,"a":2}'`, shown: [{ a: 2 }, { a: 2 }] },
  'json #2': {
    from: String.raw`'["\u0000", "\ud800", "\\u0000", "\ud83d\ude00", {"\udc00": 1}]'`,
    to: `'[1e400000, 1e-400, 1e5, ${'9'.repeat(2000)}, 12.50]'`,
    shown: [
      ['\ufffd', '\ufffd', '\\u0000', '\ud83d\ude00', { '\ufffd': 1 }],
      ['1e400000', '1e-400', 100_000, '9'.repeat(2000), 12.5],
    ],
    replaced: ['/before/v', '/after/v/0', '/after/v/1', '/after/v/3'],
  },
  'json #4': {
    from: `(SELECT json_object_agg('pin' || n, n) FROM generate_series(1, 1001) AS n)`,
    to: `'{"pin":1}'`,
    shown: [{ bytes: expect.any(Number) }, { pin: '[redacted]' }],
    replaced: ['/before/v'],
  },
  'json #3': {
    from: DEEP,
    to: `'[]'`,
    shown: [{ bytes: 1400 }, []],
    replaced: ['/before/v'],
  },
  jsonb: {
    from: `'{"id":${BIG},"d":{"e~/":[0,${LONG}]}}'`,
    to: `'{"id":9007199254740992,"d":{"e~/":[0,${LONG}]}}'`,
    shown: [
      { id: BIG, d: { 'e~/': [0, LONG] } },
      { id: '9007199254740992', d: { 'e~/': [0, LONG] } },
    ],
    replaced: both('/d/e~0~1/1', '/id'),
  },
  'jsonb #2': {
    from: `(${DEEP})::jsonb`,
    to: `'{"password":"x","a":[{"key":"pin","value":[1]}]}'`,
    shown: [{ bytes: 1400 }, { password: '[redacted]', a: [{ key: 'pin', value: '[redacted]' }] }],
    replaced: ['/before/v'],
  },
  'jsonb[]': {
    from: `ARRAY['{"pin":1}'::jsonb]`,
    to: `ARRAY['${BIG}'::jsonb]`,
    shown: [[{ pin: '[redacted]' }], [BIG]],
    replaced: ['/after/v/0'],
  },
  'int8[]': {
    from: `'{${BIG},1}'`,
    to: `'{9007199254740992,1}'`,
    shown: [
      [BIG, 1],
      ['9007199254740992', 1],
    ],
    replaced: both('/0'),
  },
  'numeric[]': {
    from: `'{{1.5},{${LONG}}}'`,
    to: `'{NaN}'`,
    shown: [[[1.5], [LONG]], ['NaN']],
    replaced: ['/before/v/1/0'],
  },
  'app.id': { from: BIG, to: '1', shown: [BIG, 1], replaced: ['/before/v'] },
  'app.id[]': { from: `'{${BIG}}'`, to: `'{1}'`, shown: [[BIG], [1]], replaced: ['/before/v/0'] },
  numeric: { from: '1.0', to: `'NaN'`, shown: [1, 'NaN'], replaced: ['/after/v'] },
  'numeric #2': { from: '1.0', to: '1.00', shown: [1, 1] },
  'app.blob': { from: `'\\x0102'`, to: `'\\x0103'`, shown: [{ bytes: 2 }, { bytes: 2 }] },
  'app.blobs': {
    from: `'{"\\\\x0102",NULL}'`,
    to: `'{{"\\\\x"}}'`,
    shown: [[{ bytes: 2 }, null], [[{ bytes: 0 }]]],
  },
  'bytea[]': { from: `'{"\\\\x0102"}'`, to: `'{}'`, shown: [[{ bytes: 2 }], []] },
  'app.pair': {
    from: `(${BIG}, '\\x0102', 'hush', 'low')`,
    to: `(NULL, NULL, NULL, 'high')`,
    shown: [
      { n: BIG, b: { bytes: 2 }, apiKey: '[redacted]', m: 'low' },
      { n: null, b: null, apiKey: null, m: 'high' },
    ],
    replaced: ['/before/v/n'],
  },
  'app.pair #2': {
    from: 'NULL',
    to: `(NULL, NULL, NULL, NULL)`,
    shown: [null, { n: null, b: null, apiKey: null, m: null }],
  },
  'app.pairs': {
    from: `(NULL, ARRAY[(${BIG}, '\\x0102', 'hush', 'low')::app.pair, NULL])`,
    to: `((1, NULL, NULL, NULL), ARRAY[]::app.pair[])`,
    shown: [
      { one: null, more: [{ n: BIG, b: { bytes: 2 }, apiKey: '[redacted]', m: 'low' }, null] },
      { one: { n: 1, b: null, apiKey: null, m: null }, more: [] },
    ],
    replaced: ['/before/v/more/0/n'],
  },
  int8range: {
    from: `'[${BIG},${BIG}]'`,
    to: `'empty'`,
    shown: [`[${BIG},9007199254740994)`, 'empty'],
  },
  money: { from: `'12.34'`, to: `'1234.5'`, shown: ['$12.34', '$1,234.50'] },
  date: { from: `'infinity'`, to: `'2026-03-04'`, shown: ['infinity', '2026-03-04'] },
  char: { from: `'a'`, to: `'b'`, shown: ['a', 'b'] },
}

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
      `SELECT tgname FROM pg_trigger WHERE tgname LIKE '%daybook_capture%'
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

  it('include changes of partitions, even of later ones', async () => {
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

  it('are the values of the table, for every type', async () => {
    const types = `
      CREATE FUNCTION app.leak(app.mood) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE 'cast'; END $$;
      CREATE FUNCTION app.leak_text(app.mood) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE 'cast'; END $$;
      CREATE CAST (app.mood AS json) WITH FUNCTION app.leak(app.mood);
      CREATE CAST (app.mood AS text) WITH FUNCTION app.leak_text(app.mood);
      CREATE TYPE app.place;
      CREATE FUNCTION app.place_in(cstring) RETURNS app.place IMMUTABLE STRICT LANGUAGE internal AS 'textin';
      CREATE FUNCTION app.place_out(app.place) RETURNS cstring IMMUTABLE STRICT LANGUAGE internal AS 'textout';
      CREATE TYPE app.place (INPUT = app.place_in, OUTPUT = app.place_out, LIKE = text);
      CREATE FUNCTION app.lossy(app.place) RETURNS json LANGUAGE sql AS $$ SELECT '"p"'::json $$;
      CREATE CAST (app.place AS json) WITH FUNCTION app.lossy(app.place);
      CREATE DOMAIN app.whole AS bigint;
      CREATE DOMAIN app.id AS app.whole;
      CREATE DOMAIN app.blob AS bytea;
      CREATE DOMAIN app.blobs AS app.blob[];
      CREATE TYPE app.pair AS (n app.id, b app.blob, "apiKey" text, m app.mood);
      CREATE TYPE app.pairs AS (one app.pair, more app.pair[]);
      CREATE TYPE app.moods AS RANGE (subtype = app.mood);
      CREATE TYPE app.secret_range AS RANGE (subtype = bytea)`
    await sql(`CREATE TYPE app.mood AS ENUM ('low', 'high'); ${types}`)
    const cases = Object.entries(COLUMNS)
    const names = cases.map((_, i) => `c${i}`)
    for (const [i, [type, { from }]] of cases.entries())
      await sql(`CREATE TABLE c${i} (id int PRIMARY KEY, v ${type.replace(/ #.*/, '')});
        INSERT INTO c${i} VALUES (1, ${from})`)
    await capture({ tables: names })
    for (const [i, { to }] of cases.map(([, one]) => one).entries())
      await sql(`UPDATE c${i} SET v = ${to}`)
    const changes = (await captured()).map(({ attributes }) => [
      attributes['table'],
      (attributes['changes'] as { value: unknown; old_value: unknown }[])[0],
      (attributes['recording'] as { replaced?: unknown } | undefined)?.replaced,
    ])
    expect(changes).toEqual(
      cases.map(([, { shown, replaced }], i) => [
        `c${i}`,
        expect.objectContaining({ path: '/v', old_value: shown[0], value: shown[1] }),
        replaced,
      ]),
    )
  })

  it('do not depend on the settings of the session', async () => {
    await sql(`CREATE TABLE stays (
        id int PRIMARY KEY, f float8, p point, i interval, nights daterange, t timestamptz, b bytea[], m money
      )`)
    await capture({ tables: ['stays'] })
    const settings = `SET DateStyle = 'German, DMY'; SET IntervalStyle = 'sql_standard'; SET extra_float_digits = -5;
      SET bytea_output = 'escape'; SET timezone = 'Asia/Tokyo'; SET standard_conforming_strings = off`
    await sql(`BEGIN; ${settings.replaceAll('SET ', 'SET LOCAL ')};
      INSERT INTO stays VALUES (1, 0.1, '(0.1,0.2)', '1 year 2 mons', daterange(make_date(2026, 3, 4), make_date(2026, 3, 5)),
        '2026-03-01T12:00:00Z', ARRAY[decode('01ff', 'hex')], '1');
      UPDATE stays SET f = 0.1::float8 + 0.00000000000000003, p = '(0.10000000000000002,0.2)';
      COMMIT; UPDATE stays SET i = i`)
    const [create, update, ...more] = await captured()
    expect(create!.attributes['after']).toEqual({
      ...{ id: 1, f: 0.1, p: '(0.1,0.2)', i: '1 year 2 mons', nights: '[2026-03-04,2026-03-05)' },
      ...{ t: '2026-03-01T12:00:00+00:00', b: [{ bytes: 2 }], m: '$1.00' },
    })
    expect(update!.attributes['changes']).toMatchObject([
      { path: '/f', value: 0.1 + 0.000_000_000_000_000_03, old_value: 0.1 },
      { path: '/p', value: '(0.10000000000000002,0.2)', old_value: '(0.1,0.2)' },
    ])
    expect(more).toEqual([])
  })

  it('come in the order in which triggers of the host change the rows', async () => {
    await sql(`
      CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE orders SET remark = TG_NAME WHERE id = NEW.id; RETURN NULL; END $$;
      CREATE TRIGGER "!note" AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION note();
      CREATE CONSTRAINT TRIGGER late AFTER INSERT ON orders DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION note()`)
    await capture()
    await sql(
      `INSERT INTO orders VALUES ('A'); INSERT INTO lines VALUES ('A', 1); DELETE FROM orders`,
    )
    const found = await captured()
    expect(
      found.map(({ type, attributes: { after } }) => [
        type.slice(6),
        (after as { remark?: unknown } | undefined)?.remark,
      ]),
    ).toEqual([
      ['orders:create', null],
      ['orders:update', '!note'],
      ['lines:create', undefined],
      ['orders:destroy', undefined],
      ['lines:destroy', undefined],
    ])
  })

  it('name the former key of a row', async () => {
    await sql(`CREATE TABLE items (id text PRIMARY KEY DEFERRABLE, total int)`)
    await capture({ tables: ['items', 'lines'] })
    await sql(`INSERT INTO orders VALUES ('A'); INSERT INTO lines VALUES ('A', 1); UPDATE lines SET line = 2;
      INSERT INTO items VALUES ('P', 1), ('Q', 2); UPDATE items SET total = 3 WHERE id = 'P';
      UPDATE items SET id = CASE id WHEN 'P' THEN 'Q' ELSE 'P' END`)
    const updates = (await captured()).filter(({ type }) => type.endsWith(':update'))
    const [line, total, ...swapped] = updates.map(({ attributes }) => attributes)
    expect(line).toMatchObject({
      primary_key: { order_id: 'A', line: 2 },
      previous_primary_key: { order_id: 'A', line: 1 },
      changes: [{ op: 'replace', path: '/line', value: 2, old_value: 1 }],
    })
    expect(total).not.toHaveProperty('previous_item_id')
    const states = [
      { before: { id: 'P', total: 3 }, after: { id: 'Q', total: 3 } },
      { before: { id: 'Q', total: 2 }, after: { id: 'P', total: 2 } },
    ]
    for (const state of states)
      expect(swapped).toContainEqual({
        table: 'items',
        item_id: state.after.id,
        previous_item_id: state.before.id,
        ...state,
        changes: [
          { op: 'replace', path: '/id', value: state.after.id, old_value: state.before.id },
        ],
      })
  })

  it('leave out virtual generated columns, and contain stored ones', async () => {
    const [version] = await sql(
      `SELECT current_setting('server_version_num')::int >= 180000 AS is_new`,
    )
    const { is_new: isNew } = version as { is_new: boolean }
    const column = (name: string): string =>
      isNew ? `, ADD COLUMN ${name} int GENERATED ALWAYS AS (net * 2) VIRTUAL` : ''
    await sql(`CREATE TABLE prices (id int PRIMARY KEY, net int);
      ALTER TABLE prices ADD COLUMN kept int GENERATED ALWAYS AS (net * 3) STORED${column('gross')}`)
    await capture({ tables: ['prices'] })
    await sql(`INSERT INTO prices VALUES (1, 5); UPDATE prices SET net = 7`)
    await sql(`ALTER TABLE prices ADD COLUMN more int${column('most')}; UPDATE prices SET net = 8`)
    expect(each(await captured(), 'after')).toEqual([
      { id: 1, net: 5, kept: 15 },
      { id: 1, net: 7, kept: 21 },
      { id: 1, net: 8, kept: 24, more: null },
    ])
  })

  it('of a table are captured with its new columns if the columns change in the same transaction', async () => {
    await sql(`CREATE TYPE app.mood AS ENUM ('low');
      CREATE FUNCTION app.leak(app.mood) RETURNS json LANGUAGE plpgsql AS $$ BEGIN RAISE 'cast'; END $$;
      CREATE CAST (app.mood AS json) WITH FUNCTION app.leak(app.mood);
      CREATE TYPE app.pair AS (a int);
      CREATE TABLE changing (id int PRIMARY KEY, n int, pair app.pair, seen int)`)
    await capture({ tables: [{ name: 'changing', exclude: ['seen'] }] })
    await sql(`BEGIN; INSERT INTO changing VALUES (1, 1, '(1)', 1);
      ALTER TABLE changing ALTER COLUMN n TYPE bytea USING '\\x0102', ADD COLUMN m app.mood DEFAULT 'low';
      ALTER TYPE app.pair ADD ATTRIBUTE pin int;
      UPDATE changing SET seen = 2;
      UPDATE changing SET n = NULL, pair = '(1,1234)';
      ALTER TABLE changing DROP COLUMN n; UPDATE changing SET id = 2; DELETE FROM changing;
      ALTER TABLE changing ADD COLUMN big text; INSERT INTO changing (id, big) VALUES (3, repeat('x', 2000000)); COMMIT`)
    const found = (await captured()).map(({ attributes }) => attributes)
    const pair = { a: 1, pin: '[redacted]' }
    expect(found).toMatchObject([
      { changing_id: 1, after: { id: 1, n: 1, pair: { a: 1 } } },
      {
        before: { id: 1, n: { bytes: 2 }, pair: { a: 1, pin: null }, m: 'low' },
        after: { id: 1, n: null, pair, m: 'low' },
        changes: [{ path: '/n' }, { path: '/pair' }],
      },
      {
        changing_id: 2,
        previous_changing_id: 1,
        before: { id: 1, pair, m: 'low' },
        after: { id: 2, pair, m: 'low' },
      },
      { changing_id: 2, before: { id: 2, pair, m: 'low' } },
      { changing_id: 3, recording: { replaced: ['/before', '/after'], cut_bytes: 2_000_000 } },
    ])
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
      `SELECT ${namesIn(schema).capture.json}(value::text, false)::json AS shown
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

describe('changes that are not captured according to the guide', () => {
  it('are replicated statements, TRUNCATE of a partition and rows of tables that inherit later', async () => {
    await sql(`
      CREATE TABLE hits (id int PRIMARY KEY) PARTITION BY RANGE (id);
      CREATE TABLE hits_1 PARTITION OF hits FOR VALUES FROM (0) TO (100)`)
    await capture({ tables: ['orders', 'hits'] })
    await sql('INSERT INTO hits VALUES (1); TRUNCATE hits_1; TRUNCATE hits')
    await sql(
      `SET session_replication_role = replica; INSERT INTO orders VALUES ('A'); RESET session_replication_role`,
    )
    await sql(`CREATE TABLE later () INHERITS (orders); INSERT INTO later VALUES ('B')`)
    const actions = typesOf(await captured()).map((type) => type.split(':').at(-1))
    expect(actions).toEqual(['create', 'truncate'])
  })
})

describe('the order according to the guide', () => {
  it('the inner change of a row that the same statement inserts comes first', async () => {
    await sql(`
      CREATE FUNCTION others() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        UPDATE orders SET remark = 'x' WHERE id > NEW.id; RETURN NULL; END $$;
      CREATE TRIGGER others AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION others()`)
    await capture()
    await sql(`INSERT INTO orders VALUES ('A'), ('B')`)
    const found = await captured()
    expect(found.map(({ type, attributes }) => [type.slice(13), attributes['order_id']])).toEqual([
      ['create', 'A'],
      ['update', 'B'],
      ['create', 'B'],
    ])
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

  it('takes from the settings no more than fits an event', async () => {
    await capture()
    const settings: readonly [actor: string, attributes: string][] = [
      ['a'.repeat(5_000_000), `{"session_id":"${'s'.repeat(2000)}","actor_kind":"user"}`],
      ['', `{"session_id":"${'s'.repeat(5_000_000)}"}`],
      ['eve', '{"actor_kind":"user" and no JSON'],
      ['eve', String.raw`{"actor_kind":"\u0000","session_id":"\ud800","trace_id":"\"t"}`],
    ]
    for (const [i, [actor, attributes]] of settings.entries())
      await sql(`BEGIN; SELECT set_config('daybook.actor', '${actor}', true), set_config('daybook.attributes', '${attributes}', true);
        INSERT INTO orders VALUES ('${i}'); COMMIT`)
    const found = (await captured()).map(({ username, attributes }) => [username, attributes])
    const noted = (...replaced: readonly string[]) => ({ recording: { replaced, cut_bytes: 0 } })
    const event = (i: number, more: object) => ({
      table: 'orders',
      order_id: String(i),
      after: { id: String(i), total: null, remark: null },
      ...more,
    })
    expect(found).toEqual([
      ['a'.repeat(1000), event(0, { actor_kind: 'user', ...noted('/username', '/session_id') })],
      [null, event(1, noted(''))],
      ['eve', event(2, { actor_kind: 'user' })],
      ['eve', event(3, { trace_id: '"t' })],
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

  it('needs the tables that inherit from a captured one', async () => {
    await sql(
      `CREATE TABLE urgent () INHERITS (orders); CREATE TABLE today (PRIMARY KEY (id)) INHERITS (urgent)`,
    )
    await expect(capture()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('add urgent, today to tables'),
    })
    await capture({ tables: ['orders', 'today', { name: 'urgent', primaryKey: ['id'] }] })
    await capture()
    await sql(
      `INSERT INTO urgent VALUES ('A'); INSERT INTO today VALUES ('B'); UPDATE orders SET total = 1`,
    )
    expect(typesOf(await captured()).toSorted()).toEqual([
      ...['audit:today:create', 'audit:today:update', 'audit:urgent:create', 'audit:urgent:update'],
    ])
  })

  it('refuses triggers that would run first', async () => {
    await sql(
      `CREATE TRIGGER "  first" AFTER UPDATE ON orders FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    )
    await expect(capture()).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('the trigger "  first" of the table orders'),
    })
  })

  it('refuses a table of the log', async () => {
    await expect(capture({ tables: [`${schema}.outbox`] })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining('belongs to the log'),
    })
  })
})

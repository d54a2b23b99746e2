import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { postgresTruth } from '../../support/postgres-index.js'
import {
  type CopiedLog,
  DAMAGE_TUNING,
  type DamageHarness,
  describeDamagedEvents,
  describeDamagedRows,
  describeDamagedSegments,
  describeVerify,
  range,
  recordBase,
  watchDamage,
} from '../shared/damage.js'

/** SQL that damages a log. */
type Harm = string

const open: AuditLog[] = []
const copies: TestDatabase[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((audit) => audit.close()))
  await Promise.all(copies.splice(0).map((copy) => copy.remove()))
})

/**
 * SQL that changes columns of a table. It first removes the constraints, because a flipped bit ignores constraints,
 * too.
 */
const withoutConstraints = (table: string, sql: string): Harm =>
  `DO $$ DECLARE _column text; BEGIN
     FOR _column IN SELECT attname FROM pg_attribute
       WHERE attrelid = '${table}'::regclass AND attnum > 0 AND attnotnull
         AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = attrelid AND attnum = ANY (indkey))
     LOOP EXECUTE format('ALTER TABLE ${table} ALTER %I DROP NOT NULL', _column); END LOOP;
   END $$; ${sql}`

// A small number, so that lists use the index.
const FIRST_PROBE = 32

const openStore = ({ url }: TestDatabase) =>
  createPostgresStore(
    { connectionString: url },
    { tuning: DAMAGE_TUNING, checkMs: 50 },
    { firstProbe: FIRST_PROBE },
  )

/** Never used through its pool, because a database can be copied only without connections to it. */
let base: TestDatabase
let ids: readonly string[] = []
/** The page of each event, in their order. */
let blocks: readonly number[] = []
/** The partition that has them. */
let table = ''
beforeAll(async () => {
  base = await postgresDatabase()
  const { store, sealer } = openStore(base)
  const audit = new AuditLog({ types: {}, store })
  ids = await recordBase(audit)
  await sealer.settled()
  await audit.close()
  const client = new pg.Client({ connectionString: base.url })
  await client.connect()
  const { rows } = await client.query<{ block: number; table: string }>(
    `SELECT (ctid::text::point)[0]::int AS block, tableoid::regclass::text AS table
     FROM daybook.events ORDER BY created_at`,
  )
  await client.end()
  blocks = rows.map(({ block }) => block)
  table = rows[0]!.table
})
afterAll(() => base.remove())

const WHERE = `WHERE (attributes ->> 'number')::int = 190`

/** The server cannot read attributes whose parts in the TOAST table are missing. */
function loseLongValue(number: number): Harm {
  return `DO $$
    DECLARE
      part record;
    BEGIN
      SET LOCAL allow_system_table_mods = on;
      FOR part IN SELECT oid::regclass AS name, reltoastrelid::regclass AS toast FROM pg_class
          WHERE relnamespace = 'daybook'::regnamespace AND relkind = 'r' AND relname LIKE 'events%' LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN attributes SET STORAGE EXTERNAL', part.name);
        EXECUTE format('UPDATE %s SET attributes = (left(attributes::text, -1) || $1 || ''"}'')::json
          WHERE (attributes ->> ''number'')::int = ${number}', part.name)
          USING ',"long":"' || repeat('x', 10000);
        -- Postgres lets nobody change a TOAST table.
        UPDATE pg_class SET relkind = 'r' WHERE oid = part.toast;
        EXECUTE format('TRUNCATE %s', part.toast);
        UPDATE pg_class SET relkind = 't' WHERE oid = part.toast;
      END LOOP;
    END $$`
}

const EVENTS: Readonly<Record<string, Harm>> = {
  'whose attributes have changed': `UPDATE daybook.events
    SET attributes = replace(attributes::text, 'text 190', 'text 191')::json ${WHERE}`,
  // Postgres itself ensures that JSON is valid.
  'whose attributes are not readable': `CREATE CAST (text AS json) WITHOUT FUNCTION;
    UPDATE daybook.events SET attributes = ('x' || attributes::text)::json ${WHERE};
    DROP CAST (text AS json)`,
  'whose type has changed': `UPDATE daybook.events SET type = 'ordes' ${WHERE}`,
}

const flipLast = (column: string): Harm =>
  `UPDATE daybook.segment_chunks SET ${column} = set_byte(${column}, length(${column}) - 1,
     get_byte(${column}, length(${column}) - 1) # 1) WHERE length(${column}) > 0`

const SEGMENTS: Readonly<Record<string, Harm>> = {
  'whose values have changed': `UPDATE daybook.segment_chunks
    SET vals = left(vals, -1) || chr(ascii(right(vals, 1)) # 1) WHERE vals <> ''`,
  'whose postings have changed': flipLast('posts'),
  'whose keys have changed': `UPDATE daybook.segment_chunks SET ordinal = ordinal + 1`,
  'whose first times have changed': `UPDATE daybook.segment_chunks
    SET first = set_byte(first, 7, get_byte(first, 7) # 1) WHERE kind = 7`,
  'whose row has changed': 'UPDATE daybook.segments SET last = last - 1000000',
  'whose times are gone': 'DELETE FROM daybook.segment_chunks WHERE kind = 7',
  'whose numbers have changed': 'UPDATE daybook.segment_chunks SET number = -1 - number',
  'a name of which has changed': `UPDATE daybook.attribute_names SET name = 'texts' WHERE name = 'text'`,
  'a name of which has another number': `UPDATE daybook.attribute_names
    SET id = id + 1000000 WHERE name = 'text'`,
  'a name of which is gone': `DELETE FROM daybook.attribute_names WHERE name = 'text'`,
  'whose last name is gone': `DELETE FROM daybook.attribute_names
    WHERE id = (SELECT max(id) FROM daybook.attribute_names)`,
}

async function copyBase(harm: Harm, options = ''): Promise<CopiedLog<Harm>> {
  const copy = await postgresDatabase(base.name, options)
  copies.push(copy)
  await copy.pool.query(harm)
  return {
    ...openStore(copy),
    damage: async () => (await postgresTruth(copy.pool, 'daybook')).damage,
    harm: (harm) => copy.pool.query(harm),
    reopen: () => openStore(copy).store,
  }
}

const harness: DamageHarness<Harm> = {
  open: copyBase,
  opened: (audit) => void open.push(audit),
  none: '',
  ids: () => ids,
  events: EVENTS,
  segments: SEGMENTS,
  allSegments: SEGMENTS['whose keys have changed']!,
  loseName: SEGMENTS['a name of which is gone']!,
  loseEvent: `DELETE FROM daybook.events WHERE (attributes ->> 'number')::int = 20`,
  loseSegment: `UPDATE daybook.segments SET state = 9 WHERE id = (SELECT min(id) FROM daybook.segments)`,
  verified: {
    'the ids of imported events are gone': 'DELETE FROM daybook.foreign_ids',
    'the high-water mark is before the newest event': `SELECT setval('daybook.high_water', last_value - 1000000000)
      FROM daybook.high_water`,
    'a chunk of each segment is gone': 'DELETE FROM daybook.segment_chunks WHERE number = 1',
    'the last chunk of each segment is gone': `DELETE FROM daybook.segment_chunks WHERE (segment, number) IN
      (SELECT segment, max(number) FROM daybook.segment_chunks GROUP BY segment)`,
    'no event is late': 'DELETE FROM daybook.late_events',
  },
  withoutConstraints,
  liveTable: 'daybook.live_events',
  live: ['attributes = NULL', `attributes = 'null'`, 'type = NULL', 'suffix = NULL'],
  liveWithoutId: [],
  rows: [
    ['is gone', 'DELETE FROM daybook.index_state'],
    ['has no version', 'UPDATE daybook.index_state SET version = NULL'],
  ].map(([what, sql]) => ({ table: 'daybook.index_state', what: what!, sql: sql! })),
  rowsError: /^the Postgres store failed: the row of index_state is missing or lacks a value$/,
  steps: ['index'],
}

describeDamagedEvents(harness)
describeDamagedRows(harness)
describeDamagedSegments(harness)
describeVerify(harness)

const openCopy = async (harm: Harm, options?: string) =>
  watchDamage(harness, await copyBase(harm, options))

const count = async (audit: AuditLog, where: string): Promise<number> =>
  (await audit.count(where, { ...EXACTLY, facets: ['kind'], attributes: true })).total

it('counts leave out an event whose attributes are not readable, and report it', async () => {
  const { audit, damages } = await openCopy(EVENTS['whose attributes are not readable']!)
  expect(await count(audit, 'filter[number_gteq]=150')).toBe(49)
  expect(await count(audit, 'filter[text_cont]=text 19')).toBe(10)
  expect(damages).toMatchObject([{ kind: 'event', id: ids[190] }])
})

// A copy of the files. The server has read none of its pages yet.
const COPIED_FILES = 'STRATEGY FILE_COPY'

/** Runs a program with the file of a table, `$file`. */
const changeFile = (table: string, program: string): Harm => `DO $$
  BEGIN
    EXECUTE format('COPY (SELECT 1) TO PROGRAM %L', format(
      'cat > /dev/null; file=%s; ${program.replaceAll("'", "''")}',
      current_setting('data_directory') || '/' || pg_relation_filepath('${table}')));
  END $$;`

/** Overwrites a page of a table. */
const overwriteBlock = (table: string, block: number): Harm =>
  changeFile(
    table,
    `head -c 8192 /dev/zero | tr '\\0' x | dd bs=8192 seek=${block} conv=notrunc of=$file 2> /dev/null`,
  )

const unreadable = (table: string): object => ({
  code: 'STORE_FAILED',
  message: expect.stringMatching(
    `^the Postgres server cannot read the table daybook\\.${table}: .+; restore it from a replica or a backup$`,
  ) as unknown,
})

it.each([
  ['a long value', 190, () => loseLongValue(190)],
  ['a page', 100, () => overwriteBlock(table, blocks[100]!)],
])(
  'calls that read unreadable data of %s fail and name the table, and other calls continue',
  async (_, number, harm) => {
    const { audit, damages, numbers } = await openCopy(harm(), COPIED_FILES)
    const error = unreadable(table.replace('daybook.', ''))
    for (const query of ['limit=200', 'filter[sorts]=number asc&limit=200'])
      await expect(numbers(query)).rejects.toMatchObject(error)
    await expect(numbers(`filter[text_eq]=text ${number}`)).rejects.toMatchObject(error)
    await expect(count(audit, 'filter[text_cont]=text')).rejects.toMatchObject(error)
    await expect(audit.store.excess({ bytes: 1 })).rejects.toMatchObject(error)
    await expect(audit.get(ids[number]!)).rejects.toMatchObject({ code: 'DAMAGED' })
    const place = `table ${table.replace('daybook.', '')}`
    expect((await audit.verify()).damage).toMatchObject([{ kind: 'database', place }])
    expect(damages).toContainEqual(expect.objectContaining({ kind: 'database', place }))
    await audit.recordCustom('order', { number: 200 })
    expect(await numbers('filter[type_eq]=order&limit=2')).toEqual([199, 200])
  },
)

it('the primary answers if a replica cannot read its copy of a table', async () => {
  const primary = await postgresDatabase(base.name)
  const replica = await postgresDatabase(base.name, COPIED_FILES)
  copies.push(primary, replica)
  await replica.pool.query(overwriteBlock(table, blocks[100]!))
  const store = postgresStore({ connectionString: primary.url, replicas: [replica.url] })
  const audit = new AuditLog({ types: {}, store })
  open.push(audit)
  expect((await audit.list('limit=200')).events).toHaveLength(200)
})

it('verify finds chunks that an index of their table does not have', async () => {
  const setReady = (isReady: boolean): Harm =>
    `UPDATE pg_index SET indisready = ${isReady} WHERE indexrelid = 'daybook.segment_chunks_key'::regclass`
  // Another index has the number, so the new version of a row gets new entries.
  const { audit, sealer, numbers } = await openCopy(`SET allow_system_table_mods = on;
    ${setReady(false)};
    UPDATE daybook.segment_chunks SET number = -1 - number;
    UPDATE daybook.segment_chunks SET number = -1 - number;
    ${setReady(true)}`)
  const { damage } = await audit.verify()
  expect(damage.length).toBeGreaterThan(0)
  expect(damage.every(({ kind }) => kind === 'segment')).toBe(true)
  await sealer.settled()
  expect((await audit.verify()).damage).toEqual([])
  expect(await numbers('filter[text_eq]=text 3')).toEqual([3])
})

it.each(['segment_chunks', 'attribute_names'])(
  'lists and counts stay correct while the server cannot read a page of %s, which is reported',
  async (name) => {
    const harm = overwriteBlock(`daybook.${name}`, 0)
    const { audit, damages, numbers } = await openCopy(harm, COPIED_FILES)
    expect(await numbers('filter[text_eq]=text 3')).toEqual([3])
    expect(await numbers('filter[number_lt]=5&filter[sorts]=number')).toEqual(range(0, 5))
    expect(await count(audit, 'filter[text_cont]=text 5')).toBe(11)
    const damage = { kind: 'database', place: `table ${name}` }
    expect(damages).toMatchObject([damage])
    expect((await audit.verify()).damage).toMatchObject([damage])
  },
)

import { AuditLog } from 'daybook'
import type { PostgresStoreOptions } from 'daybook/postgres'
import pg from 'pg'
import { expect, it } from 'vitest'
import { drafts, imported, numbersOf } from '../../../src/testing/conformance/helpers.js'
import { useSchemas } from '../../support/schemas.js'

/*
 * Tests without Citus. They create the tables of its catalog that the store reads, with the server of the tests as
 * the only node. `npm run test:citus` runs on Citus itself.
 */

const { database, schema, openStore } = useSchemas('citus')

async function makeCatalog(): Promise<void> {
  const { hostname, port } = new URL(database().url)
  const client = new pg.Client({ connectionString: database().url })
  await client.connect()
  await client.query(`
    SET allow_system_table_mods = on;
    CREATE TABLE pg_catalog.pg_dist_schema (schemaid oid PRIMARY KEY, colocationid int);
    CREATE TABLE pg_catalog.pg_dist_node (groupid int, nodename text, nodeport int, noderole text, isactive bool,
      shouldhaveshards bool);
    INSERT INTO pg_dist_node VALUES (1, '${hostname}', ${port}, 'primary', true, true);
    CREATE TABLE pg_catalog.pg_dist_local_group (groupid int);
    INSERT INTO pg_dist_local_group VALUES (1);
    CREATE TABLE pg_catalog.pg_dist_shard (shardid bigserial, logicalrelid regclass);
    CREATE TABLE pg_catalog.pg_dist_placement (placementid bigserial, shardid bigint, groupid int);
    CREATE FUNCTION pg_catalog.citus_schema_distribute(_name regnamespace) RETURNS void LANGUAGE sql AS $$
      INSERT INTO pg_dist_schema VALUES (_name, 1);
      INSERT INTO pg_dist_shard (logicalrelid)
        SELECT oid FROM pg_class WHERE relnamespace = _name AND relname = 'schema_version';
      INSERT INTO pg_dist_placement (shardid, groupid) SELECT max(shardid), 1 FROM pg_dist_shard;
    $$;`)
  await client.end()
}

const relkindOf = async (name: string): Promise<unknown> => {
  const text = 'SELECT relkind FROM pg_class WHERE oid = to_regclass($1)'
  const { rows } = await database().pool.query(text, [`${schema()}.${name}`])
  return rows[0]?.relkind
}

const openLog = (options: Partial<PostgresStoreOptions> = {}) =>
  new AuditLog({ store: openStore({ citus: true, ...options }), types: { 'test:live': {} } })

it.each<[options: object, message: RegExp]>([
  [{ citus: 'yes' }, /^citus must be true, false or an object with nodes; it is "yes"$/],
  [{ citus: { nodes: null } }, /^citus must be true, false or an object with nodes/],
  [{ citus: { nodes: { 'a:1': 'b:x' } } }, /^host 1 of the Postgres store .* it is b:x$/],
])('refuses %j', (options, message) => {
  expect(() => openStore(options)).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) }),
  )
})

it('citus: true is refused by a database without Citus', async () => {
  const store = openStore({ citus: true })
  await expect(store.append(drafts(1))).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(/the database has no Citus/),
  })
  await store.close()
})

it('without the option, a log stays on the server', async () => {
  const before = openLog({ citus: false })
  await before.recordCustom('test:local', { n: 1 })
  await makeCatalog()
  const after = openLog({ citus: false })
  expect(numbersOf((await after.list()).events)).toEqual([1])
  const placed = openLog({ citus: true })
  await expect(placed.list()).rejects.toMatchObject({
    code: 'STORE_FAILED',
    message: expect.stringMatching(/was created without Citus/),
  })
  for (const audit of [before, after, placed]) await audit.close()
  await database().pool.query(`DROP SCHEMA ${schema()} CASCADE`)
  const local = openLog({ citus: false })
  await local.recordCustom('test:local', { n: 2 })
  expect(await relkindOf('high_water')).toBe('S')
  await local.close()
})

it('a new log is placed, and has its order, live events and imports without locks of one server', async () => {
  const first = openLog()
  const second = openLog({ citus: true })
  await first.list()
  expect([await relkindOf('high_water'), await relkindOf('locks')]).toEqual(['v', 'r'])
  const live = await first.recordLive('test:live', { n: 0 })
  const record = async (audit: AuditLog, from: number) => {
    const times: string[] = []
    for (let n = from; n < from + 20; n++)
      times.push((await audit.recordCustom('test:placed', { n }))!.created_at)
    return times
  }
  const times = (await Promise.all([record(first, 1), record(second, 21)])).flat()
  expect(times.toSorted()).toEqual([...new Set(times)].toSorted())
  await live.close()
  await second.importEvents([imported({ attributes: { n: -1 } })])
  const { events } = await second.list('limit=100')
  expect(numbersOf(events).toSorted((a, b) => Number(a) - Number(b))).toEqual(
    Array.from({ length: 42 }, (_, i) => i - 1),
  )
  // The newest time stays when its event is removed.
  await first.store.remove([events.at(-1)!.id])
  const text = `SELECT last_value FROM ${schema()}.high_water`
  const newest = BigInt((await database().pool.query(text)).rows[0].last_value)
  expect(newest / 1000n).toBe(BigInt(Date.parse(events.at(-1)!.created_at)))
  await first.close()
  await second.close()
})

it('a call fails on a node that no longer has the log, and the next call finds the log', async () => {
  const audit = openLog()
  await audit.recordCustom('test:placed', { n: 1 })
  const { pool } = database()
  await pool.query('UPDATE pg_dist_local_group SET groupid = 2')
  const recorded = audit.recordCustom('test:placed', { n: 2 })
  const listed = audit.list()
  await pool.query('UPDATE pg_dist_local_group SET groupid = 1')
  await recorded
  expect(numbersOf((await listed).events)[0]).toBe(1)
  expect(numbersOf((await audit.list()).events)).toEqual([1, 2])
  await audit.close()
})

it('a pool, replicas and a listenConnectionString are refused on Citus', async () => {
  const pooled = openLog({ connectionString: undefined, pool: database().pool })
  await expect(pooled.list()).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(/needs a connectionString instead of a pool/),
  })
  await pooled.close()
  const { url } = database()
  for (const [options, message] of [
    [{ readPool: database().pool }, /does not read from replicas/],
    [{ replicas: [url] }, /does not read from replicas/],
    [{ listenConnectionString: url }, /does not use a listenConnectionString/],
  ] as const) {
    const audit = openLog(options)
    const refused = { code: 'INVALID_OPTION', message: expect.stringMatching(message) }
    await expect(audit.list()).rejects.toMatchObject(refused)
    await audit.close()
  }
})

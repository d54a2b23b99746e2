import { postgresStore } from 'daybook/postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migration1 } from '../../../adapters/postgres/schema/migration-1.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { termsOf } from '../../../adapters/postgres/schema/terms.js'
import type { EventDraft } from '../../../src/event/event.js'
import {
  draft,
  imported,
  numbers,
  throttled,
  timeOf,
} from '../../../src/testing/conformance/helpers.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await postgresDatabase()
})
afterAll(() => database.remove())

/** As a process of version 1 appends, with its function of thirteen parameters. */
async function appendAsBefore(schema: string, n: number): Promise<void> {
  const one = draft({ n })
  await database.pool.query(
    `SELECT * FROM ${schema}.append($1, $2, $3, $4, $5, $6, $7, NULL, gen_random_uuid(), $8, '{}', 0, '{}')`,
    [
      ...[[one.tail], [one.type], [one.username], [one.source], [one.system]],
      ...[one.json, `{${termsOf(one).join()}}`, Number.MAX_SAFE_INTEGER],
    ],
  )
}

/** As processes of versions 2 to 4 append, with their function of eighteen parameters. */
async function appendInColumns(schema: string, ...of: readonly EventDraft[]): Promise<string[]> {
  const lines = (lineOf: (one: EventDraft) => string): string => of.map(lineOf).join('\n')
  const { rows } = await database.pool.query<{ times: string[] }>(
    `SELECT * FROM ${schema}.append($1, $2, $3, $4, $5, $6, $7, NULL, NULL, NULL, $8, NULL, gen_random_uuid(), $9, '{}', false, 0, '{}')`,
    [
      of.map(({ tail }) => tail),
      of.map(({ type }) => type),
      of.map(({ username }) => username),
      of.map(({ source }) => source),
      of.map(({ system }) => system),
      lines(({ json }) => json),
      lines((one) => `{${termsOf(one).join()}}`),
      of.map(({ live }) => live ?? false),
      Number.MAX_SAFE_INTEGER,
    ],
  )
  return rows[0]!.times
}

it('processes of versions before append beside those of this one', async () => {
  const schema = 'beside'
  const store = postgresStore({ connectionString: database.url, schema })
  await store.append([draft({ n: 0, text: 'ß 😀' }, { username: null, source: '/api/x' })])
  const times = await appendInColumns(
    schema,
    draft({ n: 1, text: 'ß 😀' }, { username: null, source: '/api/x' }),
    draft({ n: 2 }, { live: true }),
    draft({ n: 3 }),
  )
  expect(times).toHaveLength(3)
  await store.append([draft({ n: 4 })])
  const { events } = await store.list({ where: undefined, sorts: [], limit: 100 })
  expect(numbers(events)).toEqual([0, 1, 2, 3, 4])
  const [first, second] = (
    await database.pool.query(
      `SELECT type, username, source, system, attributes->>'text', terms[2] FROM ${schema}.events ORDER BY created_at`,
    )
  ).rows as unknown[]
  expect(second).toEqual(first)
  expect(await store.openEvents()).toHaveLength(1)
  await store.close()
})

it('a process goes on when the log is restored into a schema that was made anew', async () => {
  const schema = 'restored'
  const before = postgresStore({ connectionString: database.url, schema })
  await before.append([draft({ n: 0 })])
  await database.pool.query(`DROP SCHEMA ${schema} CASCADE`)
  const other = postgresStore({ connectionString: database.url, schema })
  await other.append([draft({ n: 1 })])
  await before.append([draft({ n: 2 })])
  const { events } = await before.list({ where: undefined, sorts: [], limit: 100 })
  expect(numbers(events)).toEqual([1, 2])
  await Promise.all([before.close(), other.close()])
})

it('a log of version 1 keeps its events and goes on, also for processes of that version', async () => {
  const schema = 'version_1'
  await database.pool.query(`
    CREATE SCHEMA ${schema};
    CREATE TABLE ${schema}.schema_version (version integer NOT NULL, partitions text NOT NULL);
    INSERT INTO ${schema}.schema_version VALUES (1, 'none');
    ${migration1(namesIn(schema), 'none')}`)
  await appendAsBefore(schema, 1)
  await database.pool.query(
    `INSERT INTO ${schema}.outbox (tail, type, system, attributes, terms, recorded_at)
     VALUES ('8000000000000000', 'test:event', true, '{"n":2}', '{}', 0)`,
  )
  const old = imported({ attributes: { n: 0 } })
  await database.pool.query(
    `INSERT INTO ${schema}.events VALUES ($1, $2, $3, $4, $5, $6, $7, '{}')`,
    [timeOf(old), old.id, old.type, old.username, old.source, old.system, { n: 0 }],
  )
  await database.pool.query(`INSERT INTO ${schema}.foreign_ids VALUES ($1, $2)`, [
    old.id,
    timeOf(old),
  ])

  const stores = [1, 2, 3].map(() =>
    postgresStore({ connectionString: database.url, schema, partitions: 'day' }),
  )
  const [store] = stores
  const stored = async (): Promise<unknown[]> =>
    numbers((await store!.list({ where: undefined, sorts: [], limit: 100 })).events)
  const found = await Promise.all(stores.map((one) => one.get(old.id)))
  expect(found).toEqual([old, old, old].map((event) => ({ ...event, attributes: { n: 0 } })))
  await store!.append([throttled({ n: 3 }), throttled({ n: 4 })])
  expect(await stored()).toEqual([0, 1, 2, 3])
  await appendAsBefore(schema, 5)
  const [live] = await store!.append([draft({ n: 6 }, { live: true })])
  await appendAsBefore(schema, 7)
  await store!.closeLive(live!.id, { revision: 1 })
  expect(await stored()).toEqual([0, 1, 2, 3, 5, 6, 7])
  const { rows } = await database.pool.query(`SELECT * FROM ${schema}.schema_version`)
  expect(rows).toEqual([{ version: 6, partitions: 'none' }])
  await Promise.all(stores.map((one) => one.close()))
})

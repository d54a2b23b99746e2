import pg from 'pg'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { checkOut, giveBack } from '../../../adapters/postgres/connection/client.js'
import { askPrepared } from '../../../adapters/postgres/connection/prepared.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { useSchemas } from '../../support/schemas.js'

const { database, schema, openStore } = useSchemas('prepared')

let pool: pg.Pool

/** Each use of the pool has the same connection. */
beforeEach(() => void (pool = new pg.Pool({ connectionString: database().url, max: 1 })))
afterEach(() => pool.end())

const preparedStatements = async (): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ statement: string }>(
    'SELECT statement FROM pg_prepared_statements ORDER BY prepare_time, name',
  )
  return rows.map(({ statement }) => statement)
}

it('appends are prepared once for each connection', async () => {
  const store = openStore({ pool })
  for (let n = 0; n < 3; n++) await store.append([draft({ n })])
  const statements = await preparedStatements()
  expect(statements).toEqual([
    expect.stringContaining(`${namesIn(schema()).append}($1`),
    expect.stringContaining('pg_logical_emit_message'),
  ])
  await store.close()
})

it('appends go on after the host has discarded prepared statements', async () => {
  const store = openStore({ pool })
  await store.append([draft({ n: 0 })])
  await pool.query('DISCARD ALL')
  const events = [
    ...(await store.append([draft({ n: 1 })])),
    ...(await store.append([draft({ n: 2 })])),
  ]
  expect(events.map((event) => event.attributes['n'])).toEqual([1, 2])
  for (const event of events) expect(await store.get(event.id)).toEqual(event)
  expect(await preparedStatements()).toEqual([])
  const { rows } = await pool.query(`SELECT count(*)::int AS count FROM "${schema()}".events`)
  expect(rows).toEqual([{ count: 3 }])
  await store.close()
})

it('a connection keeps no more than 16 prepared statements', async () => {
  const client = await checkOut(pool)
  const answers: unknown[] = []
  for (let n = 0; n < 18; n++) answers.push(...(await askPrepared(client, 'test', `SELECT ${n}`)))
  giveBack(client, true)
  expect(answers).toEqual(Array.from({ length: 18 }, (_, n) => [String(n)]))
  expect(await preparedStatements()).toHaveLength(16)
})

import { createSecretKey, randomBytes } from 'node:crypto'
import { postgresStore, postgresSubjectKeys } from 'daybook/postgres'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SubjectKeys } from '../../../src/privacy/subject-keys.js'
import { postgresDatabase } from '../../support/database.js'
import { hostileDatabase } from '../../support/hostile-role.js'
import { errorWith } from '../../unit/errors.js'

const master = createSecretKey(randomBytes(32))
const ada = { kind: 'customer', id: 'c17' }
const request = { reason: 'Löschung \0 😀', username: '李' }

type Options = Parameters<typeof postgresSubjectKeys>[0]

function open(options: object): SubjectKeys {
  const keys = postgresSubjectKeys({ master, ...options } as Options)
  onTestFinished(() => keys.close())
  return keys
}

async function newDatabase() {
  const database = await postgresDatabase()
  onTestFinished(() => database.remove())
  return database
}

/** Does what every use of the keys does. */
async function useAll(keys: SubjectKeys): Promise<void> {
  const subjects = Array.from({ length: 20 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
  const made = await keys.obtain([...subjects, { kind: 'customer', id: undefined }])
  expect((await keys.read(made.map(({ ref }) => ref))).size).toBe(21)
  const begun = await keys.beginErasure(ada, request)
  expect(begun).toMatchObject({ ref: made[17]!.ref, ...request, events: null })
  expect(await keys.find(ada)).toBe(begun!.ref)
  await keys.endErasure(begun!.ref, { events: 3 })
  expect(await keys.erasures()).toEqual([{ ...begun, events: 3, isEnded: true }])
  expect(await keys.rotate(createSecretKey(randomBytes(32)))).toBe(20)
  expect(await keys.obtain(subjects.slice(0, 3))).toEqual(made.slice(0, 3))
}

describe('postgresSubjectKeys', () => {
  it('works for a role with settings that change what statements mean', async () => {
    const database = await hostileDatabase()
    onTestFinished(() => database.remove())
    await useAll(open({ connectionString: database.url }))
  })

  it.each<[string, string]>([
    ['an open transaction', 'BEGIN'],
    ['an open transaction that only reads', 'BEGIN READ ONLY; SELECT 1'],
    ['a failed transaction', 'BEGIN; SELECT 1/0'],
    ['a time limit', `SET statement_timeout = '1ms'`],
    ['commits that do not wait for the disk', 'SET synchronous_commit = off'],
    ['another search path', 'SET search_path = pg_temp, public'],
  ])('works on a pool whose connections were left with %s', async (_, left) => {
    const { url: connectionString } = await newDatabase()
    const pool = new pg.Pool({ connectionString, max: 3 })
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    const clients = await Promise.all(Array.from({ length: 3 }, () => pool.connect()))
    for (const client of clients) {
      await client.query(left).catch(() => {})
      client.release()
    }
    await useAll(open({ pool }))
    // The host's pool is still open.
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  })

  it('makes the tables once, although many processes begin at the same time', async () => {
    const { url: connectionString, pool } = await newDatabase()
    const all = Array.from({ length: 5 }, () => open({ connectionString }))
    const made = await Promise.all(all.map((keys) => keys.obtain([ada])))
    for (const one of made) expect(one).toEqual(made[0])
    const { rows } = await pool.query('SELECT count(*)::int AS count FROM daybook_keys.keys')
    expect(rows).toEqual([{ count: 1 }])
  })

  it('has other keys in each schema', async () => {
    const { url: connectionString } = await newDatabase()
    const [one] = await open({ connectionString, schema: 'one' }).obtain([ada])
    const other = open({ connectionString, schema: 'Two "x"' })
    expect(await other.find(ada)).toBeUndefined()
    expect((await other.obtain([ada]))[0]!.ref).not.toBe(one!.ref)
  })

  it('refuses the schema of a log, and does not change it', async () => {
    const { url: connectionString, pool } = await newDatabase()
    const store = postgresStore({ connectionString })
    await store.list({ where: undefined, sorts: [], limit: 1 })
    await store.close()
    const tables = async (): Promise<unknown> =>
      (await pool.query('SELECT relname FROM pg_class ORDER BY 1')).rows
    const before = await tables()
    await expect(open({ connectionString, schema: 'daybook' }).obtain([ada])).rejects.toEqual(
      errorWith('INVALID_OPTION', 'keys of subjects need a schema of their own'),
    )
    expect(await tables()).toEqual(before)
  })

  it('says that the server cannot be reached, before the caller gives up', async () => {
    const keys = open({ connectionString: 'postgres://localhost:1/none' })
    const began = performance.now()
    await expect(keys.obtain([ada])).rejects.toEqual(errorWith('KEYS_UNAVAILABLE'))
    expect(performance.now() - began).toBeLessThan(20_000)
    const signal = AbortSignal.abort()
    await expect(keys.obtain([ada], { signal })).rejects.toEqual(errorWith('ABORTED'))
  })

  it('goes on after its connections were ended', async () => {
    const { url: connectionString, pool } = await newDatabase()
    const keys = open({ connectionString })
    const [key] = await keys.obtain([ada])
    await pool.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
    )
    expect(await keys.find(ada)).toBe(key!.ref)
  })

  it.each<[string, object, string]>([
    ['a misspelt option', { connectionString: 'postgres://x', shema: 'a' }, 'did you mean schema?'],
    ['no address', {}, 'needs a connectionString, or a pool of pg'],
    ['an address of another kind', { connectionString: 'mysql://x' }, 'connectionString must be'],
    [
      'a schema of Postgres',
      { connectionString: 'postgres://x', schema: 'pg_keys' },
      'schema must',
    ],
    ['no master key', { connectionString: 'postgres://x', master: undefined }, 'it is missing'],
  ])('refuses %s', (_, options, reason) => {
    expect(() => postgresSubjectKeys({ master, ...options } as Options)).toThrow(
      errorWith('INVALID_OPTION', reason),
    )
  })
})

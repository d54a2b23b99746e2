import { randomUUID } from 'node:crypto'
import { AuditLog } from 'daybook'
import { postgresCheckups, postgresStore, type PostgresStoreOptions } from 'daybook/postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Checkup } from '../../../src/store/checkup.js'
import { postgresDatabase, type TestDatabase } from '../../support/database.js'

/* Checkups of `daybook doctor` about the role. */

let database: TestDatabase
const roles: string[] = []
beforeAll(async () => {
  database = await postgresDatabase()
  for (const partitions of ['none', 'month'] as const) {
    const schema = `Log ${partitions}`
    const store = postgresStore({ connectionString: database.url, schema, partitions })
    const audit = new AuditLog({ store, types: {} })
    await audit.recordCustom('test:first')
    await audit.close()
  }
})
afterAll(async () => {
  for (const role of roles)
    await database.pool.query(`DROP OWNED BY "${role}"; DROP ROLE "${role}"`)
  await database.remove()
})

interface Made {
  readonly role: string
  /** Options of the store. */
  readonly options: PostgresStoreOptions
}

/** Makes a role with a name that has to be quoted. */
async function makeRole(
  partitions: 'none' | 'month',
  ...statements: readonly string[]
): Promise<Made> {
  const role = `App ${randomUUID().slice(0, 8)}`
  roles.push(role)
  await database.pool.query(`CREATE ROLE "${role}" LOGIN`)
  for (const statement of statements)
    await database.pool.query(statement.replaceAll('%', `"${role}"`))
  const url = new URL(database.url)
  url.username = role
  return { role, options: { connectionString: url.href, schema: `Log ${partitions}` } }
}

async function checkup(
  name: string,
  { options }: Made,
  others: Partial<PostgresStoreOptions> = {},
): Promise<Checkup> {
  const checkups = await postgresCheckups({ ...options, ...others })
  return checkups.find((one) => one.name === name)!
}

const grant = (remedy: string): Promise<unknown> => database.pool.query(remedy)

it('names the GRANT statements for a role without rights, and these are enough to read and to record', async () => {
  const made = await makeRole('none')
  const { role, options } = made
  const found = await checkup('rights', made)
  expect(found).toMatchObject({
    status: 'fail',
    found: `the role "${role}" may not read the schema "Log none"`,
  })
  expect(found.remedy).toContain(`GRANT USAGE ON SCHEMA "Log none" TO "${role}"`)
  expect(found.remedy).toContain(`GRANT INSERT, UPDATE, DELETE ON `)
  await grant(found.remedy!)
  expect(await checkup('rights', made)).toMatchObject({ status: 'pass' })
  const audit = new AuditLog({ store: postgresStore(options), types: { 'api:test:live': {} } })
  const event = await audit.recordCustom('test:granted')
  await (await audit.recordLive('api:test:live', {})).close()
  await audit.importEvents([])
  await audit.rebuildIndex()
  expect(await audit.get(event!.id)).toEqual(event)
  await audit.close()
})

it('names the GRANT that reading needs', async () => {
  const made = await makeRole('none')
  const { role, options } = made
  const { remedy } = await checkup('rights', made, { readOnly: true })
  expect(remedy).toBe(
    `GRANT USAGE ON SCHEMA "Log none" TO "${role}"; GRANT SELECT ON ALL TABLES IN SCHEMA "Log none" TO "${role}"; ` +
      `GRANT SELECT ON ALL SEQUENCES IN SCHEMA "Log none" TO "${role}"`,
  )
  await grant(remedy!)
  expect(await checkup('rights', made, { readOnly: true })).toMatchObject({ status: 'pass' })
  const audit = new AuditLog({ store: postgresStore({ ...options, readOnly: true }), types: {} })
  expect((await audit.list()).events.length).toBeGreaterThan(0)
  await audit.close()
  // The same role would have to be granted more to record.
  expect(await checkup('rights', made)).toMatchObject({
    status: 'warn',
    found: `the role "${role}" may only read`,
    remedy: expect.stringContaining('GRANT INSERT, UPDATE, DELETE ON ALL TABLES ') as string,
  })
})

describe('a remedy is given', () => {
  const ALL = [
    'GRANT USAGE ON SCHEMA "Log none" TO %',
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA "Log none" TO %',
    'GRANT ALL ON ALL SEQUENCES IN SCHEMA "Log none" TO %',
  ]
  it.each([
    ['schema', 'REVOKE USAGE ON SCHEMA "Log none" FROM %', 'GRANT USAGE ON SCHEMA "Log none" TO %'],
    [
      'table',
      'REVOKE UPDATE ON "Log none".throttles FROM %',
      'GRANT UPDATE ON TABLE "Log none".throttles TO %',
    ],
    [
      'sequence',
      'REVOKE UPDATE ON SEQUENCE "Log none".high_water FROM %',
      'GRANT UPDATE ON SEQUENCE "Log none".high_water TO %',
    ],
  ])('for a right that is missing on a %s', async (_, revoke, expected) => {
    const made = await makeRole('none', ...ALL, revoke)
    expect(await checkup('rights', made)).toMatchObject({
      status: 'fail',
      remedy: expected.replace('%', `"${made.role}"`),
    })
  })

  it('for a right that is missing on a function', async () => {
    const made = await makeRole('none', ...ALL)
    const { rows } = await database.pool.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc WHERE pronamespace = '"Log none"'::regnamespace AND proname LIKE 'append%'`,
    )
    const name = `"Log none".${rows[0]!.name}`
    await database.pool.query(`REVOKE EXECUTE ON FUNCTION ${name} FROM PUBLIC`)
    expect((await checkup('rights', made)).remedy).toBe(
      `GRANT EXECUTE ON FUNCTION ${name} TO "${made.role}"`,
    )
    await database.pool.query(`GRANT EXECUTE ON FUNCTION ${name} TO PUBLIC`)
  })
})

it('warns that a role which does not own the table of events cannot add partitions', async () => {
  const made = await makeRole(
    'month',
    'GRANT USAGE ON SCHEMA "Log month" TO %',
    'GRANT ALL ON ALL TABLES IN SCHEMA "Log month" TO %',
    'GRANT ALL ON ALL SEQUENCES IN SCHEMA "Log month" TO %',
  )
  expect(await checkup('rights', made)).toMatchObject({
    status: 'warn',
    remedy: expect.stringContaining(`GRANT postgres TO "${made.role}"`) as string,
  })
})

it('names the GRANT that creating a log needs', async () => {
  const made = await makeRole('none')
  const found = await checkup('rights', made, { schema: 'none yet' })
  expect(found).toMatchObject({
    status: 'fail',
    remedy: expect.stringContaining(
      `GRANT CREATE ON DATABASE ${database.name} TO "${made.role}"`,
    ) as string,
  })
  await grant(found.remedy!.split(',')[0]!)
  expect(await checkup('rights', made, { schema: 'none yet' })).toMatchObject({ status: 'pass' })
})

it.each([
  [
    'default_transaction_read_only',
    'on',
    'fail',
    'set default_transaction_read_only = off for the role: no event can be recorded',
  ],
  [
    'session_replication_role',
    'replica',
    'warn',
    'set session_replication_role = origin for the role: changes of captured tables leave no event',
  ],
  [
    'synchronous_commit',
    'off',
    'warn',
    expect.stringContaining('set synchronous_commit = on for the role'),
  ],
])('reports %s = %s of the role', async (name, value, status, remedy) => {
  const made = await makeRole('none', `ALTER ROLE % SET ${name} = ${value}`)
  expect(await checkup(name, made)).toMatchObject({ status, remedy })
})

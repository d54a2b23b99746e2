import { postgresStore } from 'daybook/postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type CopyLog, runRestoreRound } from '../../campaigns/restore.js'
import { ask } from '../../support/own-server.js'
import { type OwnServer, startOwnPostgres } from '../../support/postgres.js'

/* The campaign `restore` in short. The embedded servers have no pg_dump, so the rows are copied. */

const servers: OwnServer[] = []

beforeAll(async () => {
  // Another cluster, which no copy of the template is.
  servers.push(await startOwnPostgres(), await startOwnPostgres([], 'newest', []))
})
afterAll(async () => {
  for (const server of servers) await server.stop()
})

const copyRows: CopyLog = async (from, to, schema) => {
  const store = postgresStore({ connectionString: to.url, schema, partitions: 'none' })
  await store.openEvents()
  await store.close()
  const tables = await ask(
    from,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = '${schema}'`,
  )
  for (const { name } of tables) {
    const table = `"${schema}"."${String(name)}"`
    const [row] = await ask(
      from,
      `SELECT coalesce(json_agg(t), '[]')::text AS rows FROM ${table} AS t`,
    )
    const rows = String(row!['rows']).replaceAll("'", "''")
    await ask(
      to,
      // Like pg_restore, without the checks of foreign keys.
      `SET session_replication_role = replica; DELETE FROM ${table}; INSERT INTO ${table} OVERRIDING SYSTEM VALUE
       SELECT * FROM json_populate_recordset(NULL::${table}, '${rows}')`,
    )
  }
  const identities = await ask(
    to,
    `SELECT table_name AS name FROM information_schema.columns
     WHERE table_schema = '${schema}' AND column_name = 'id' AND is_identity = 'YES'`,
  )
  for (const { name } of identities) {
    const table = `"${schema}"."${String(name)}"`
    await ask(
      to,
      `SELECT setval(pg_get_serial_sequence('${table}', 'id'), max(id)) FROM ${table} HAVING max(id) > 0`,
    )
  }
}

it('filtered lists find all events after the log was restored on a server with lower transaction ids', async () => {
  const round = { events: 30, age: 500, imported: [5, 5] as const, liveEvents: 3 }
  const events = await runRestoreRound(round, [servers[0]!, servers[1]!], 'restored', copyRows)
  expect(events).toBe(1 + 30 + 3 + 10 + 40)
})

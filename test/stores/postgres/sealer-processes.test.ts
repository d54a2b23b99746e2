import { describe } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { postgresTruth } from '../../support/postgres-index.js'
import { useSchemas } from '../../support/schemas.js'
import { TUNING } from '../shared/sealer.js'
import { describeSealerProcesses, useProcesses } from '../shared/sealer-processes.js'

const { database, schema, query } = useSchemas('processes')

const read = async (sql: string): Promise<unknown> =>
  (await query<{ value: unknown }>(sql))[0]!.value

async function settle(leaseMs: number): Promise<void> {
  const { store, sealer } = createPostgresStore(
    { pool: database().pool, schema: schema(), partitions: 'none' },
    { tuning: TUNING, leaseMs },
  )
  await sealer.settled()
  await store.close()
}

const fixture = useProcesses({
  begin: () => settle(10_000),
  place: () => ({ connectionString: database().url, schema: schema() }),
  truth: () => postgresTruth(database().pool, schema()),
  settle,
  leaseHolder: async () => (await read('SELECT holder AS value FROM %index_state')) ?? undefined,
  // The server ends the transaction of a suspended process.
  isWritable: async () => true,
  segmentsBegun: async () => Number(await read('SELECT last_value AS value FROM %segments_id_seq')),
})

describe('several processes with a log', () => describeSealerProcesses(fixture))

import { AuditLog, type AuditEvent } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { afterAll, beforeAll } from 'vitest'
import type { PostgresSealer } from '../../adapters/postgres/index/sealer.js'
import { createPostgresStore } from '../../adapters/postgres/postgres-store.js'
import { postgresDatabase, type TestDatabase } from './database.js'
import { type LogSchemas, openLogSchemas } from './log-schemas.js'
import { tempDir } from './temp.js'

// Most events are in segments. The counts of Postgres come from segments.
const TUNING = { segmentSize: 16, fanOut: 3 }

/** Imports the events into logs on all stores, calls `use`, and closes the logs. The first log is on the memory store. */
type WithStores = (
  events: readonly AuditEvent[],
  use: (all: readonly AuditLog[]) => Promise<void>,
) => Promise<void>

/** Prepares a database for one test file before its tests. The schemas of its logs begin with the prefix. */
export function openSealedStores(prefix: string): WithStores {
  let database: TestDatabase
  let schemas: LogSchemas

  beforeAll(async () => {
    database = await postgresDatabase()
    schemas = await openLogSchemas(database.url, prefix)
  })
  afterAll(async () => {
    await schemas.close()
    await database.remove()
  })

  return async (events, use) => {
    const temp = tempDir()
    const clock = manualClock('2026-01-01T00:01:00Z')
    // On a busy machine, queries at once take longer than the default.
    const limits = { clock, queryTimeoutMs: 2 ** 31 - 1 }
    let sealer: PostgresSealer
    const { schema, store } = await schemas.open((schema) => {
      const options = { pool: database.pool, schema, partitions: 'none', ...limits } as const
      const opened = createPostgresStore(options, { tuning: TUNING }, { minIndexed: 1 })
      sealer = opened.sealer
      return opened.store
    })
    const all = [
      memoryStore(limits),
      sqliteStore({ filename: temp.file('audit.db'), ...limits }),
      store,
    ].map((store): AuditLog => new AuditLog({ store, types: {} }))
    try {
      for (const audit of all) await audit.importEvents(events)
      await sealer!.settled()
      await use(all)
    } finally {
      for (const audit of all) await audit.close()
      await schemas.giveBack(schema)
      temp.remove()
    }
  }
}

import { AuditLog } from 'daybook'
import { sqliteStore } from 'daybook/sqlite'
import { manualClock } from 'daybook/testing'
import { type Query, toQueryString } from '../harness/query.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/*
 * A process that lists events of an SQLite log, and has loaded nothing that other sides of the benchmarks need. Answers
 * with its resident memory after the queries.
 */

export interface MemorySetup {
  readonly filename: string
  readonly cacheBytes?: number
}

// The clock of the process that filled the log. Any other would be reported as an event of the log.
const store = sqliteStore({ ...(readSetup() as MemorySetup), clock: manualClock() })
const audit = new AuditLog({ store, types: {} })

async function list(queries: readonly Query[]): Promise<number> {
  for (const query of queries) {
    const { events } = await audit.list(toQueryString(query))
    for (const { attributes } of events) void attributes['change_id']
  }
  return process.memoryUsage.rss()
}

serveJobs(list, () => audit.close())

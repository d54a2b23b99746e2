import { AuditLog } from 'daybook'
import { manualClock } from 'daybook/testing'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that opens a log, and searches all texts of its events. */

export interface FreeTextJob {
  /** Each is listed and then counted. */
  readonly queries: readonly string[]
}

export interface FreeTextAnswer {
  /** By query, in milliseconds. */
  readonly lists: readonly number[]
  readonly counts: readonly number[]
  /** Events that the lists returned. */
  readonly found: number
  /** False if a count was an estimate. */
  readonly isExact: boolean
}

const LIMIT = 1000

// The clock of the process that filled the log. Any other would be reported as an event of the log.
const store = openStore(readSetup() as StoreSetup, manualClock())
const audit = new AuditLog({ store, types: {} })

async function search({ queries }: FreeTextJob): Promise<FreeTextAnswer> {
  const lists: number[] = []
  const counts: number[] = []
  let found = 0
  let isExact = true
  for (const q of queries) {
    const start = performance.now()
    const { events } = await audit.list({ q, limit: LIMIT })
    lists.push(performance.now() - start)
    found += events.length
    const middle = performance.now()
    const { exact } = await audit.count({ q })
    counts.push(performance.now() - middle)
    isExact &&= exact.total
  }
  return { lists, counts, found, isExact }
}

serveJobs(search, () => audit.close())

import { AuditLog, type CountOptions } from 'daybook'
import { manualClock } from 'daybook/testing'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that opens a log and counts its events. */

export interface CountJob {
  readonly filter: string
  readonly options: CountOptions
  /** How often to count. */
  readonly times: number
}

export interface CountAnswer {
  /** Of each count. */
  readonly milliseconds: readonly number[]
  /** Whether all figures were exact, of each count. */
  readonly exact: readonly boolean[]
}

// The clock of the process that filled the log. Any other would be reported as an event of the log.
const store = openStore(readSetup() as StoreSetup, manualClock())
const audit = new AuditLog({ store, types: {} })

async function count({ filter, options, times }: CountJob): Promise<CountAnswer> {
  const milliseconds: number[] = []
  const isExact: boolean[] = []
  for (let i = 0; i < times; i++) {
    const start = performance.now()
    const { exact, facets } = await audit.count(filter, options)
    milliseconds.push(performance.now() - start)
    isExact.push(exact.total && Object.values(facets).every((facet) => facet.exact))
  }
  return { milliseconds, exact: isExact }
}

serveJobs(count, () => audit.close())

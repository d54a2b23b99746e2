import { AuditLog, type CountOptions } from 'daybook'
import { manualClock } from 'daybook/testing'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that opens a log, and counts its events or searches all of their texts. */

export interface CountJob {
  readonly filter: string
  readonly options: CountOptions
  /** The number of counts. */
  readonly times: number
}

export interface CountAnswer {
  /** Of each count. */
  readonly milliseconds: readonly number[]
  /** All figures of all counts were exact. */
  readonly isExact: boolean
}

export interface TextJob {
  /** Each is listed and then counted. */
  readonly texts: readonly string[]
}

export interface TextAnswer {
  /** By text, in milliseconds. */
  readonly lists: readonly number[]
  readonly counts: readonly number[]
  /** Events that the lists returned. */
  readonly found: number
  /** All counts were exact. */
  readonly isExact: boolean
}

const LIMIT = 1000

// The clock of the process that filled the log. Any other would be reported as an event of the log.
const store = openStore(readSetup() as StoreSetup, manualClock())
const audit = new AuditLog({ store, types: {} })

async function timed<Result>(call: () => Promise<Result>): Promise<[Result, ms: number]> {
  const start = performance.now()
  const result = await call()
  return [result, performance.now() - start]
}

async function count({ filter, options, times }: CountJob): Promise<CountAnswer> {
  const milliseconds: number[] = []
  let isExact = true
  for (let i = 0; i < times; i++) {
    const [{ exact, facets }, ms] = await timed(() => audit.count(filter, options))
    milliseconds.push(ms)
    isExact &&= exact.total && Object.values(facets).every((facet) => facet.exact)
  }
  return { milliseconds, isExact }
}

async function search({ texts }: TextJob): Promise<TextAnswer> {
  const lists: number[] = []
  const counts: number[] = []
  let found = 0
  let isExact = true
  for (const q of texts) {
    const [{ events }, listMs] = await timed(() => audit.list({ q, limit: LIMIT }))
    const [{ exact }, countMs] = await timed(() => audit.count({ q }))
    lists.push(listMs)
    counts.push(countMs)
    found += events.length
    isExact &&= exact.total
  }
  return { lists, counts, found, isExact }
}

serveJobs(
  (job: CountJob | TextJob) => ('texts' in job ? search(job) : count(job)),
  () => audit.close(),
)

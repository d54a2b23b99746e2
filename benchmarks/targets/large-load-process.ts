import { quantile } from 'simple-statistics'
import { AuditLog } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { callAtRate } from '../harness/load.js'
import { cycle, type SampleEvent, sampleEvents } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { type Answer, type Cleaned, type Delays, MAX_DELAY_MS, type Setup } from './large-load.js'

/* A process that records and lists at constant rates, or one that cleans, on one Postgres log. */

const RECORDS_PER_SECOND = 200
const LISTS_PER_SECOND = 50

const { url, cleaning } = readSetup() as Setup

const audit = new AuditLog({
  store: postgresStore({ connectionString: url }),
  types: {},
  cleaning: {
    scheduled: false,
    rules: cleaning
      ? [
          {
            target: 'events',
            maxAge: { days: cleaning.days },
            ...(cleaning.directory !== undefined && {
              archive: { directory: cleaning.directory, format: 'ndjson' },
            }),
          },
        ]
      : [],
  },
})
// The first call opens the store.
await audit.list('limit=1')
const take = cycle(sampleEvents(2000))

function delaysOf(milliseconds: readonly number[]): Delays {
  return {
    calls: milliseconds.length,
    p50: quantile(milliseconds, 0.5),
    p99: quantile(milliseconds, 0.99),
    max: Math.max(...milliseconds),
    over: milliseconds.filter((one) => one > MAX_DELAY_MS).length,
  }
}

/** Runs until `isOver`, and returns what calls took. */
async function load(isOver: () => boolean): Promise<Answer> {
  const record: number[] = []
  const list: number[] = []
  await Promise.all([
    callAtRate(RECORDS_PER_SECOND, isOver, async (due) => {
      const [{ type, data }] = take(1) as [SampleEvent]
      await audit.recordCustom(type, data)
      record.push(performance.now() - due)
    }),
    callAtRate(LISTS_PER_SECOND, isOver, async (due) => {
      await audit.list('limit=10')
      list.push(performance.now() - due)
    }),
  ])
  return { record: delaysOf(record), list: delaysOf(list) }
}

async function clean(): Promise<Cleaned> {
  const began = performance.now()
  const [result] = await audit.cleaning.run()
  return {
    seconds: (performance.now() - began) / 1000,
    removed: result!.removed_count,
    archived: result!.archived_count ?? 0,
    error: result!.error,
  }
}

let isStopped = false
let running: Promise<Answer> | undefined

/** A number of seconds, or `begin` and `end` of a load, or `clean`. */
serveJobs(
  async (job: number | 'begin' | 'end' | 'clean') => {
    if (job === 'clean') return clean()
    if (job === 'begin') {
      isStopped = false
      running = load(() => isStopped)
      return 'begun'
    }
    if (job === 'end') {
      isStopped = true
      return running
    }
    const end = performance.now() + job * 1000
    return load(() => performance.now() >= end)
  },
  () => audit.close(),
)

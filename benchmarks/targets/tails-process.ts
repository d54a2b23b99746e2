import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent } from 'daybook'
import { quantile } from 'simple-statistics'
import { type Rate, recordAtRate, type Recorded } from '../harness/constant-rate.js'
import { type DurableSetup, openStore } from '../harness/open-store.js'
import { fillLog, sampleTypes } from '../harness/sample-events.js'
import { differentFilter, selectiveFilter } from '../harness/sample-filters.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that records at a constant rate while it follows its log with tails. */

export type TailKind = 'none' | 'selective' | 'different' | 'all' | 'behind'

export type Job = { readonly fill: number } | Trial

export interface Trial extends Rate {
  readonly kind: TailKind
}

export interface Answer extends Recorded {
  readonly delivered: number
  /** Milliseconds from `created_at` to the loop of a tail. */
  readonly lagP50: number
  readonly lagP99: number
  /** Events that tails had not delivered some time after the last was recorded. */
  readonly missed: number
}

const START_SECONDS = 3
const FINISH_SECONDS = 30
const MANY = 1000
const FEW = 100
/** Lags that are kept. */
const MAX_LAGS = 200_000

const audit = new AuditLog({ store: openStore(readSetup() as DurableSetup), types: sampleTypes })

const FILTERS: Readonly<Record<TailKind, readonly string[]>> = {
  none: [],
  selective: Array.from({ length: MANY }, (_, i) => selectiveFilter(i)),
  different: Array.from({ length: MANY }, (_, i) => differentFilter(i)),
  all: Array.from({ length: FEW }, () => ''),
  behind: Array.from({ length: FEW }, () => ''),
}

interface Reader {
  readonly filter: string
  delivered: number
}

/** How many events the readers should have, by filter. */
async function expectedCounts(readers: readonly Reader[], after: string) {
  const expected = new Map<string, number>()
  for (const { filter } of readers) {
    if (expected.has(filter)) continue
    const { total, exact } = await audit.count(`${filter}&filter[created_at_gt]=${after}`, {
      within: 60_000,
    })
    if (!exact.total) throw new Error('the count is a lower bound')
    expected.set(filter, total)
  }
  return expected
}

async function missedBy(readers: readonly Reader[], after: string): Promise<number> {
  const expected = await expectedCounts(readers, after)
  const missed = (): number =>
    readers.reduce((sum, { filter, delivered }) => sum + expected.get(filter)! - delivered, 0)
  const end = performance.now() + FINISH_SECONDS * 1000
  while (missed() > 0 && performance.now() < end) await delay(50)
  return missed()
}

async function runTrial(trial: Trial): Promise<Answer> {
  const { kind } = trial
  const [first] = (await audit.list({ filter: { sorts: 'created_at' }, limit: 1 })).events
  const [newest] = (await audit.list({ limit: 1 })).events
  const after = kind === 'behind' ? first!.created_at : newest!.created_at
  const stop = new AbortController()
  setMaxListeners(Infinity, stop.signal)
  const lags: number[] = []
  const note = ({ created_at }: AuditEvent): void => {
    const time = Date.parse(created_at)
    if (lags.length < MAX_LAGS) lags.push(performance.timeOrigin + performance.now() - time)
  }
  const follow = async (reader: Reader): Promise<void> => {
    for await (const event of audit.tail(reader.filter, { after, signal: stop.signal })) {
      reader.delivered += 1
      note(event)
    }
  }
  const readers = FILTERS[kind].map((filter): Reader => ({ filter, delivered: 0 }))
  const following = readers.map(follow)
  await delay(START_SECONDS * 1000)
  const deliveredOf = (): number => readers.reduce((sum, { delivered }) => sum + delivered, 0)
  const before = deliveredOf()
  const recorded = await recordAtRate(audit, trial)
  const delivered = deliveredOf() - before
  const missed = kind === 'behind' ? 0 : await missedBy(readers, after)
  stop.abort()
  await Promise.allSettled(following)
  const lag = (share: number): number => (lags.length > 0 ? quantile(lags, share) : 0)
  return { ...recorded, delivered, lagP50: lag(0.5), lagP99: lag(0.99), missed }
}

serveJobs(
  (job: Job) => ('fill' in job ? fillLog(audit, job.fill).then(() => 'filled') : runTrial(job)),
  () => audit.close(),
)

import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent } from 'daybook'
import { max, quantile } from 'simple-statistics'
import { type DurableSetup, openStore } from '../harness/open-store.js'
import {
  createSampler,
  recordAll,
  sampleEvents,
  sampleTypes,
  TYPES,
} from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that records at a constant rate while it follows its log with tails. */

export type TailKind = 'none' | 'selective' | 'different' | 'all' | 'behind'

export type Job = { readonly fill: number } | Trial

export interface Trial {
  readonly kind: TailKind
  readonly perSecond: number
  readonly seconds: number
}

export interface Answer {
  /** Calls per second until the last one has resolved. */
  readonly perSecond: number
  /** Milliseconds from the moment at which a call was due to its result. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Share of one processor core. */
  readonly cpu: number
  readonly delivered: number
  /** Milliseconds from `created_at` to the loop of a tail. */
  readonly lagP50: number
  readonly lagP99: number
  /** Events that tails had not delivered some time after the last was recorded. */
  readonly missed: number
}

const TICK_MS = 10
const START_SECONDS = 3
const FINISH_SECONDS = 30
const MANY = 1000
const FEW = 100
/** Lags that are kept. */
const MAX_LAGS = 200_000

const audit = new AuditLog({ store: openStore(readSetup() as DurableSetup), types: sampleTypes })

/** A mix of filters, each of which matches few events; 15 different ones. */
const selectiveFilter = (i: number): string =>
  [
    `filter[type_eq]=${TYPES[i % 12]}`,
    'filter[type_start]=error:&filter[parent_node_type_eq]=project',
    `filter[username_eq]=user${i % 10}&filter[url_params_project_code_start]=project-1`,
  ][i % 3]!

const differentFilter = (i: number): string =>
  `filter[type_eq]=${TYPES[i % 200]}&filter[duration_ms_gt]=${i}`

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

const next = createSampler(5)

/** Calls `record` at a constant rate: at each tick all events that are due. */
async function record({ perSecond, seconds }: Trial) {
  const calls: Promise<unknown>[] = []
  const times: number[] = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (;;) {
    const elapsed = Math.min((performance.now() - start) / 1000, seconds)
    while (calls.length < elapsed * perSecond) {
      const due = start + (calls.length / perSecond) * 1000
      const { type, data, username } = next()
      const call = audit.record(type, data, { username })
      calls.push(call.then(() => times.push(performance.now() - due)))
    }
    if (elapsed === seconds) break
    await delay(TICK_MS)
  }
  await Promise.all(calls)
  const took = performance.now() - start
  const { user, system } = process.cpuUsage(cpu)
  return {
    perSecond: (calls.length / took) * 1000,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    max: max(times),
    cpu: (user + system) / 1000 / took,
  }
}

/** How many events the readers should have, by filter. */
async function expectedCounts(readers: readonly Reader[], after: string) {
  const expected = new Map<string, number>()
  for (const { filter } of readers) {
    if (expected.has(filter)) continue
    const { total, sampled } = await audit.count(`${filter}&filter[created_at_gt]=${after}`, {
      within: 60_000,
    })
    if (sampled) throw new Error('the count is an estimate')
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
  const recorded = await record(trial)
  const delivered = deliveredOf() - before
  const missed = kind === 'behind' ? 0 : await missedBy(readers, after)
  stop.abort()
  await Promise.allSettled(following)
  const lag = (share: number): number => (lags.length > 0 ? quantile(lags, share) : 0)
  return { ...recorded, delivered, lagP50: lag(0.5), lagP99: lag(0.99), missed }
}

async function fill(count: number): Promise<'filled'> {
  const events = sampleEvents(count)
  for (let at = 0; at < count; at += 1000) await recordAll(audit, events.slice(at, at + 1000))
  return 'filled'
}

serveJobs(
  (job: Job) => ('fill' in job ? fill(job.fill) : runTrial(job)),
  () => audit.close(),
)

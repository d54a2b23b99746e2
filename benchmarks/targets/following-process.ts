import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, type SubscriptionOptions } from 'daybook'
import { quantile } from 'simple-statistics'
import { type Rate, recordAtRate, type Recorded } from '../harness/constant-rate.js'
import { type StoreSetup, openStore } from '../harness/open-store.js'
import { fillLog, sampleLinks, sampleTypes, TYPES } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that records at a constant rate, and follows its log with subscriptions or tails. */

/**
 * `subscription` and `tail` get each new event. `many subscriptions` and `many tails` match few events each. Those that are
 * `behind` start at the oldest event.
 */
export type Kind =
  | 'none'
  | 'subscription'
  | 'many subscriptions'
  | 'subscriptions behind'
  | 'tail'
  | 'many tails'
  | 'tails behind'

export interface Trial extends Rate {
  readonly kind: Kind
}

export type Job = { readonly fill: number } | Trial

export interface Answer extends Recorded {
  /** p99 of the milliseconds from `created_at` to the call of the function, or to the loop of the tail. */
  readonly lag: number
}

const MANY = 1000
const FEW = 100
const POLL_MS = 100
const START_MS = 1000

const setup = readSetup() as StoreSetup

/** 15 different ones, each of which matches few of the sample events. */
const selectiveFilter = (i: number): string =>
  [
    `filter[type_eq]=${TYPES[i % 12]}`,
    'filter[type_start]=error:&filter[parent_node_type_eq]=project',
    `filter[username_eq]=user${i % 10}&filter[url_params_project_code_start]=project-1`,
  ][i % 3]!

const times = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i))

const SUBSCRIPTIONS: {
  readonly [kind in Kind]?: readonly Omit<SubscriptionOptions, 'channel'>[]
} = {
  subscription: [{}],
  'many subscriptions': times(MANY, (i) => ({ filter: selectiveFilter(i) })),
  'subscriptions behind': times(FEW, () => ({ from: 'beginning' })),
}

const TAILS: { readonly [kind in Kind]?: readonly string[] } = {
  tail: [''],
  'many tails': times(MANY, selectiveFilter),
  'tails behind': times(FEW, () => ''),
}

type Log = AuditLog<typeof sampleTypes>

/** Each trial has its own channel, so that no process delivers the subscriptions of earlier trials. */
const CHANNEL = `c${process.pid}`

/** Waits until all subscriptions are delivered: those that begin at the newest event have passed the first of these. */
async function untilStarted(audit: Log, { kind }: Trial, count: number): Promise<void> {
  const first = await audit.recordCustom('benchmark:begin')
  for (;;) {
    // A subscription that matches no event moves on with the next event.
    await audit.recordCustom('benchmark:begin')
    const all = await audit.subscriptions.status()
    const own = all.filter(({ channel }) => channel === CHANNEL)
    const isStarted = own.every(({ delivered, cursor }) =>
      kind === 'subscriptions behind' ? delivered > 0 : cursor >= first!.created_at,
    )
    if (isStarted && own.length === count) return
    await delay(POLL_MS)
  }
}

/** Starts tails; the returned function ends them. */
async function startTails(
  audit: Log,
  { kind }: Trial,
  arrived: (events: readonly AuditEvent[]) => void,
): Promise<() => Promise<unknown>> {
  const filters = TAILS[kind] ?? []
  const sorts = kind === 'tails behind' ? 'created_at asc' : 'created_at desc'
  const { events } = await audit.list({ filter: { sorts }, limit: 1 })
  const after = events[0]?.created_at
  const stop = new AbortController()
  setMaxListeners(Infinity, stop.signal)
  const { signal } = stop
  const follow = async (filter: string): Promise<void> => {
    const options = after === undefined ? { signal } : { signal, after }
    for await (const event of audit.tail(filter, options)) arrived([event])
  }
  const following = filters.map(follow)
  if (filters.length > 0) await delay(START_MS)
  return () => {
    stop.abort()
    return Promise.allSettled(following)
  }
}

async function runTrial(trial: Trial): Promise<Answer> {
  const { kind } = trial
  let delivered = 0
  const lags: number[] = []
  const arrived = (events: readonly AuditEvent[]): void => {
    delivered += events.length
    const now = performance.timeOrigin + performance.now()
    if (kind === 'subscription' || kind === 'tail')
      for (const { created_at } of events) lags.push(now - Date.parse(created_at))
  }
  const subscriptions = SUBSCRIPTIONS[kind] ?? []
  const audit = new AuditLog({
    store: openStore(setup),
    types: sampleTypes,
    links: sampleLinks,
    subscriptions: {
      channels: subscriptions.length > 0 ? { [CHANNEL]: { deliver: arrived } } : {},
      subscriptions: Object.fromEntries(
        subscriptions.map((one, i) => [`s${process.pid}-${i}`, { channel: CHANNEL, ...one }]),
      ),
    },
  })
  const endTails = await startTails(audit, trial, arrived)
  await untilStarted(audit, trial, subscriptions.length)
  lags.length = 0
  const recorded = await recordAtRate(audit, trial)
  await endTails()
  await audit.close()
  if (kind !== 'none' && delivered === 0) throw new Error(`${kind}: nothing was delivered`)
  return { ...recorded, lag: lags.length > 0 ? quantile(lags, 0.99) : 0 }
}

async function fill(count: number): Promise<'filled'> {
  await using audit = new AuditLog({
    store: openStore(setup),
    types: sampleTypes,
    links: sampleLinks,
  })
  await fillLog(audit, count)
  return 'filled'
}

serveJobs((job: Job) => ('fill' in job ? fill(job.fill) : runTrial(job)))

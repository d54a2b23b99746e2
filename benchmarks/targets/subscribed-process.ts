import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, type AuditEvent, type SubscriptionOptions } from 'daybook'
import { quantile } from 'simple-statistics'
import { type Rate, recordAtRate, type Recorded } from '../harness/constant-rate.js'
import { type DurableSetup, openStore } from '../harness/open-store.js'
import { fillLog, sampleTypes } from '../harness/sample-events.js'
import { selectiveFilter } from '../harness/sample-filters.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A process that records at a constant rate, and delivers the events of its log. */

/** `live` and `tail` get each new event, `selective` are many that match few events, and `behind` start at the oldest event. */
export type Kind = 'none' | 'selective' | 'behind' | 'live' | 'tail'

export interface Trial extends Rate {
  readonly kind: Kind
}

export type Job = { readonly fill: number } | Trial

export interface Answer extends Recorded {
  readonly delivered: number
  /** Milliseconds from `created_at` to the call of the function, or to the loop of the tail. */
  readonly lagP50: number
  readonly lagP99: number
}

export const MANY = 1000
export const FEW = 100
const POLL_MS = 100

const setup = readSetup() as DurableSetup

const named = (
  count: number,
  options: (i: number) => Omit<SubscriptionOptions, 'channel'>,
): Readonly<Record<string, SubscriptionOptions>> =>
  Object.fromEntries(
    // Each trial has its own channel, so that no process delivers the subscriptions of earlier trials.
    Array.from({ length: count }, (_, i) => [
      `s${process.pid}-${i}`,
      { channel: `c${process.pid}`, ...options(i) },
    ]),
  )

const SUBSCRIPTIONS: Readonly<Record<Kind, Readonly<Record<string, SubscriptionOptions>>>> = {
  none: {},
  tail: {},
  selective: named(MANY, (i) => ({ filter: selectiveFilter(i) })),
  behind: named(FEW, () => ({ from: 'beginning' })),
  live: named(1, () => ({})),
}

/** Waits until all subscriptions are delivered: those that begin at the newest event have passed this one. */
async function untilStarted(audit: AuditLog<typeof sampleTypes>, kind: Kind): Promise<void> {
  const newest = await audit.recordCustom('benchmark:begin')
  for (;;) {
    const all = await audit.subscriptions.status()
    const own = all.filter(({ channel }) => channel === `c${process.pid}`)
    const isStarted = own.every(({ delivered, position }) =>
      kind === 'behind' ? delivered > 0 : position >= newest!.created_at,
    )
    if (isStarted && own.length === Object.keys(SUBSCRIPTIONS[kind]).length) return
    await delay(POLL_MS)
  }
}

async function runTrial(trial: Trial): Promise<Answer> {
  const { kind } = trial
  let delivered = 0
  let lags: number[] = []
  const arrived = (events: readonly AuditEvent[]): void => {
    delivered += events.length
    const now = performance.timeOrigin + performance.now()
    if (kind === 'live' || kind === 'tail')
      for (const { created_at } of events) lags.push(now - Date.parse(created_at))
  }
  const isDelivering = Object.keys(SUBSCRIPTIONS[kind]).length > 0
  const audit = new AuditLog({
    store: openStore(setup),
    types: sampleTypes,
    subscriptions: {
      channels: isDelivering ? { [`c${process.pid}`]: { deliver: arrived } } : {},
      subscriptions: SUBSCRIPTIONS[kind],
    },
  })
  const stop = new AbortController()
  const tail = async (): Promise<void> => {
    for await (const event of audit.tail('', { signal: stop.signal })) arrived([event])
  }
  const following = kind === 'tail' ? tail() : Promise.resolve()
  following.catch(() => {})
  await untilStarted(audit, kind)
  const before = delivered
  lags = []
  const recorded = await recordAtRate(audit, trial)
  const answer = { ...recorded, delivered: delivered - before }
  stop.abort()
  await following.catch(() => {})
  await audit.close()
  const lag = (share: number): number => (lags.length > 0 ? quantile(lags, share) : 0)
  return { ...answer, lagP50: lag(0.5), lagP99: lag(0.99) }
}

async function fill(count: number): Promise<'filled'> {
  await using audit = new AuditLog({ store: openStore(setup), types: sampleTypes })
  await fillLog(audit, count)
  return 'filled'
}

serveJobs((job: Job) => ('fill' in job ? fill(job.fill) : runTrial(job)))

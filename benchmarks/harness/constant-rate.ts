import { setTimeout as delay } from 'node:timers/promises'
import type { AuditLog } from 'daybook'
import { max, quantile } from 'simple-statistics'
import { createSampler, type SampleEvent, type sampleTypes } from './sample-events.js'

/* Recording at a constant rate, beside what else a process does. */

export interface Rate {
  readonly perSecond: number
  readonly seconds: number
}

export interface Recorded {
  /** Calls per second until the last one has resolved. */
  readonly perSecond: number
  /** Milliseconds from the moment at which a call was due to its result. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Share of one processor core that the process took. */
  readonly cpu: number
}

const TICK_MS = 10

/** Calls `record` at a constant rate: at each tick all events that are due. `next` gets the number of the event. */
export async function recordAtRate(
  audit: AuditLog<typeof sampleTypes>,
  { perSecond, seconds }: Rate,
  next: (i: number) => SampleEvent = createSampler(5),
): Promise<Recorded> {
  const calls: Promise<unknown>[] = []
  const times: number[] = []
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (;;) {
    const elapsed = Math.min((performance.now() - start) / 1000, seconds)
    while (calls.length < elapsed * perSecond) {
      const due = start + (calls.length / perSecond) * 1000
      const { type, data, username } = next(calls.length)
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

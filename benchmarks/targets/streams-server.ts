import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, defineEventTypes } from 'daybook'
import { auditRoutes, basicAuth } from 'daybook/koa'
import { sqliteStore } from 'daybook/sqlite'
import Koa from 'koa'
import { listen, type Listening, USER } from '../harness/listen.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A service that records events and streams them to readers. */

/** The answer to `memory` is the memory of the service now, in MiB. */
export type Job = 'listen' | 'memory' | { readonly record: Recording }

export interface Recording {
  /** The number of the first event; all numbers have the same number of digits. */
  readonly first: number
  readonly perSecond: number
  readonly seconds: number
}

export type Answer = string | number | Recorded

export interface Recorded {
  /** The number of the last event. */
  readonly last: number
  /** MiB of memory before readers connect. */
  readonly idle: number
  /** The maximum since. */
  readonly peak: number
  /** Share of one processor core. */
  readonly cpu: number
}

const TICK_MS = 10
const MEMORY_INTERVAL_MS = 100

const audit = new AuditLog({
  store: sqliteStore({ filename: readSetup() as string }),
  types: defineEventTypes({ 'info:steps:success': {} }),
})

const app = new Koa()
app.use(basicAuth({ users: { [USER]: USER } }))
app.use(auditRoutes(audit))
let server: Listening | undefined

const memory = (): number => process.memoryUsage.rss() / 2 ** 20
let idle = 0
let peak = 0

async function start(): Promise<string> {
  server = await listen(app)
  // The first query allocates what stays.
  await audit.list()
  globalThis.gc?.()
  idle = memory()
  setInterval(() => (peak = Math.max(peak, memory())), MEMORY_INTERVAL_MS).unref()
  return `${server.url}/api/events/stream`
}

/** Records at a constant rate: at each tick all events that are due. */
async function record({ first, perSecond, seconds }: Recording): Promise<Recorded> {
  const calls: Promise<unknown>[] = []
  const start = performance.now()
  const cpu = process.cpuUsage()
  for (;;) {
    const elapsed = Math.min((performance.now() - start) / 1000, seconds)
    while (calls.length < elapsed * perSecond) {
      const at = Math.round((performance.timeOrigin + performance.now()) * 1000)
      const data = { seq: first + calls.length, at, name: 'nightly', step: calls.length % 10 }
      calls.push(audit.record('info:steps:success', data, { username: USER }))
    }
    if (elapsed === seconds) break
    await delay(TICK_MS)
  }
  await Promise.all(calls)
  const { user, system } = process.cpuUsage(cpu)
  const share = (user + system) / 1000 / (performance.now() - start)
  return { last: first + calls.length - 1, idle, peak, cpu: share }
}

function run(job: Job): Promise<Answer> | Answer {
  if (job === 'memory') return memory()
  return job === 'listen' ? start() : record(job.record)
}

serveJobs(run, () => {
  server?.close()
  return audit.close()
})

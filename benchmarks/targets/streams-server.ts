import { AuditLog } from 'daybook'
import { auditRoutes, basicAuth } from 'daybook/koa'
import { sqliteStore } from 'daybook/sqlite'
import Koa from 'koa'
import { type Rate, recordAtRate } from '../harness/constant-rate.js'
import { listen, type Listening, USER } from '../harness/listen.js'
import { sampleLinks, sampleTypes } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* A service that records events and streams them to readers. */

/** The answer to `memory` is the memory of the service now, in MiB. */
export type Job = 'listen' | 'memory' | { readonly record: Recording }

export interface Recording extends Rate {
  /** The number of the first event. */
  readonly first: number
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

const MEMORY_INTERVAL_MS = 100

const audit = new AuditLog({
  store: sqliteStore({ filename: readSetup() as string }),
  types: sampleTypes,
  links: sampleLinks,
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

/** All events have numbers with the same number of digits. */
async function record({ first, ...rate }: Recording): Promise<Recorded> {
  let last = first
  const { cpu } = await recordAtRate(audit, rate, (i) => {
    const at = Math.round((performance.timeOrigin + performance.now()) * 1000)
    last = first + i
    const data = { seq: last, at, name: 'nightly', step: i % 10 }
    return { type: 'info:steps:success', username: USER, data }
  })
  return { last, idle, peak, cpu }
}

function run(job: Job): Promise<Answer> | Answer {
  if (job === 'memory') return memory()
  return job === 'listen' ? start() : record(job.record)
}

serveJobs(run, () => {
  server?.close()
  return audit.close()
})

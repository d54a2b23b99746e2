import { setTimeout as delay } from 'node:timers/promises'
import { AuditLog, defineEventTypes } from 'daybook'
import { auditRoutes, basicAuth } from 'daybook/koa'
import { sqliteStore } from 'daybook/sqlite'
import Koa from 'koa'
import { listen, type Listening } from '../harness/listen.js'

/*
 * A service whose event feed has streams, in a process of its own: `streams-server.ts <JSON of the
 * file's name>`. It is sent `listen`, and then what to record.
 */

export type Job = 'listen' | { readonly record: Recording }

export interface Recording {
  /** The number of the first event; all of them have as many digits. */
  readonly first: number
  readonly perSecond: number
  readonly seconds: number
}

export type Answer = string | Recorded

export interface Recorded {
  /** The number of the last event. */
  readonly last: number
  /** MiB of memory: before there were readers, and the most since. */
  readonly idle: number
  readonly most: number
  /** Share of a processor's time. */
  readonly cpu: number
}

const TICK_MS = 10
const LOOK_MS = 100

const audit = new AuditLog({
  store: sqliteStore({ filename: JSON.parse(process.argv[2] ?? '') as string }),
  types: defineEventTypes({ 'info:steps:success': {} }),
})

const app = new Koa()
app.use(basicAuth({ users: { ann: 'ann' } }))
app.use(auditRoutes(audit))
let server: Listening | undefined

const memory = (): number => process.memoryUsage.rss() / 2 ** 20
let idle = 0
let most = 0

async function serve(): Promise<string> {
  server = await listen(app)
  // The first of everything takes memory too.
  await audit.list()
  globalThis.gc?.()
  idle = memory()
  setInterval(() => (most = Math.max(most, memory())), LOOK_MS).unref()
  return `${server.url}/api/events/stream`
}

/** As many in each moment as are due by then. */
async function record({ first, perSecond, seconds }: Recording): Promise<Recorded> {
  const calls: Promise<unknown>[] = []
  const start = performance.now()
  const cpu = process.cpuUsage()
  for (;;) {
    const elapsed = Math.min((performance.now() - start) / 1000, seconds)
    while (calls.length < elapsed * perSecond) {
      const at = Math.round((performance.timeOrigin + performance.now()) * 1000)
      const data = { seq: first + calls.length, at, name: 'nightly', step: calls.length % 10 }
      calls.push(audit.record('info:steps:success', data, { username: 'ann' }))
    }
    if (elapsed === seconds) break
    await delay(TICK_MS)
  }
  await Promise.all(calls)
  const { user, system } = process.cpuUsage(cpu)
  const share = (user + system) / 1000 / (performance.now() - start)
  return { last: first + calls.length - 1, idle, most, cpu: share }
}

async function answer(job: Job): Promise<Answer> {
  return job === 'listen' ? serve() : record(job.record)
}

process.on('disconnect', () => {
  server?.close()
  void audit.close()
})
process.on('message', (job: Job) => void answer(job).then((found) => process.send!(found)))
process.send!('ready')

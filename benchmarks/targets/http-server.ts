import http from 'node:http'
import Router from '@koa/router'
import { AuditLog, type EventStore } from 'daybook'
import { auditRoutes, basicAuth, recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { AUTHORIZATION, listen, USER } from '../harness/listen.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { recordAll, type SampleEvent, sampleEvents, sampleTypes } from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { type CaseName, CASES } from './http-cases.js'

/* A service with an event feed. Each case is prepared before its requests. */

export interface Setup {
  readonly store: StoreSetup
  readonly events: number
}

/** The answer to `prepare` is the URL of the service, to `countReads` the reads of the store since. */
export type Job = { readonly prepare: CaseName } | 'countReads'
export type Answer = string | number

/** Headers that Node sets for each response. */
const NODE_HEADERS = new Set(['connection', 'keep-alive', 'date', 'content-length'])

let reads = 0
const setup = readSetup() as Setup
const store = openStore(setup.store)
const countingStore: EventStore = {
  ...store,
  list(query, options) {
    reads++
    return store.list(query, options)
  },
}
const audit = new AuditLog({ store: countingStore, types: sampleTypes })

/** All events, oldest first. */
const recorded: { readonly id: string; readonly event: SampleEvent }[] = []

async function record(events: readonly SampleEvent[]): Promise<void> {
  const stored = await recordAll(audit, events)
  for (const [i, event] of events.entries()) recorded.push({ id: stored[i]!.id, event })
}

interface Prepared {
  readonly headers: Record<string, string>
  readonly body: string
}

const prepared = new Map<CaseName, Prepared>()

function createApp(): Koa {
  const app = new Koa()
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { [USER]: USER } }))
  app.use(auditRoutes(audit))
  const router = new Router()
  router.get('/prepared/:name', (ctx) => {
    const { headers, body } = prepared.get(ctx.params['name'] as CaseName)!
    ctx.set(headers)
    ctx.body = body
  })
  app.use(router.routes())
  return app
}

function get(url: string): Promise<{ response: http.IncomingMessage; body: string }> {
  const headers = { authorization: AUTHORIZATION }
  return new Promise((resolve, reject) => {
    const request = http.get(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => resolve({ response, body: Buffer.concat(chunks).toString() }))
    })
    request.on('error', reject)
  })
}

/** Records an event that the case finds, checks the feed, and prepares the same response as static bytes. */
async function prepare(name: CaseName): Promise<string> {
  const { query, limit, matches } = CASES[name]
  await record([recorded.findLast(({ event }) => matches(event))!.event])
  const { response, body } = await get(`${url}/api/events?${query}`)
  const found = (JSON.parse(body) as { data: { id: string }[] }).data.map(({ id }) => id)
  const matching = recorded.filter(({ event }) => matches(event)).map(({ id }) => id)
  if (response.statusCode !== 206 || found.join() !== matching.slice(-limit).join())
    throw new Error(`${query}: the feed does not return the newest ${limit} matching events`)
  const headers = Object.entries(response.headers as Record<string, string>).filter(
    ([header]) => !NODE_HEADERS.has(header),
  )
  prepared.set(name, { headers: Object.fromEntries(headers), body })
  const copy = await get(`${url}/prepared/${name}`)
  if (copy.body !== body) throw new Error(`${name}: the prepared body differs`)
  reads = 0
  return url
}

const BATCH = 1000
const events = sampleEvents(setup.events)
for (let i = 0; i < events.length; i += BATCH) await record(events.slice(i, i + BATCH))

const { url, close } = await listen(createApp())

serveJobs(
  (job: Job) => (job === 'countReads' ? reads : prepare(job.prepare)),
  () => {
    close()
    return audit.close()
  },
)

import http from 'node:http'
import Router from '@koa/router'
import type Database from 'better-sqlite3'
import { AuditLog, type EventStore } from 'daybook'
import { auditRoutes, basicAuth, recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { AUTHORIZATION, listen, USER } from '../harness/listen.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import {
  recordAll,
  type SampleEvent,
  sampleEvents,
  sampleLinks,
  sampleTypes,
} from '../harness/sample-events.js'
import { readSetup, serveJobs } from '../harness/workers.js'
import { type CaseName, CASES } from './http-cases.js'
import { openRaw, prepareInserts } from './raw-sqlite.js'

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
const audit = new AuditLog({ store: countingStore, types: sampleTypes, links: sampleLinks })

/** The ids of all events, oldest first. */
const recorded: string[] = []

async function record(events: readonly SampleEvent[]): Promise<void> {
  for (const event of await recordAll(audit, events)) recorded.push(event!.id)
}

interface Prepared {
  readonly headers: Record<string, string>
  readonly body: string
}

const prepared = new Map<CaseName, Prepared>()

interface RawRow {
  readonly created_at: number
  readonly type: string
  readonly username: string | null
  readonly j: string
}

/** The same events in a table of JSON text. */
function openRawEvents(filename: string): Database.Database {
  const database = openRaw(filename)
  const insert = prepareInserts(database, events, (row) => RAW_START + row)
  for (let i = 0; i < events.length; i += BATCH) insert(i, Math.min(i + BATCH, events.length))
  return database
}

/** Joins the rows of a page with handwritten code, which knows only the parameters of these benchmarks. */
function rawBody(select: Database.Statement, query: URLSearchParams): string {
  const limit = Number(query.get('limit'))
  const before = query.get('filter[created_at_lt]')
  const time = before === null ? Number.MAX_SAFE_INTEGER : Date.parse(before) * 1000
  const rows = select.all(time, limit) as RawRow[]
  let data = ''
  for (let i = rows.length - 1; i >= 0; i--) {
    const { created_at, type, username, j } = rows[i]!
    const own = `"type":"${type}","username":"${username}","created_at":${created_at}`
    const links = `"links":{"self":"/api/events/${created_at}"}`
    data += `{"type":"event","id":"${created_at}","attributes":{${own},${j.slice(1)},${links}}`
    if (i > 0) data += ','
  }
  return `{"jsonapi":{"version":"1.1"},"data":[${data}]}`
}

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
  if (raw) {
    const select = raw.prepare(
      'SELECT * FROM raw WHERE created_at < ? ORDER BY created_at DESC LIMIT ? + 0',
    )
    router.get('/raw/:name', (ctx) => {
      ctx.status = 206
      ctx.set(prepared.get(ctx.params['name'] as CaseName)!.headers)
      ctx.body = rawBody(select, new URLSearchParams(ctx.querystring))
    })
  }
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

/** Records an event, checks the feed, and prepares the same response as static bytes. */
async function prepare(name: CaseName): Promise<string> {
  const { query, limit } = CASES[name]
  await record(events.slice(0, 1))
  const { response, body } = await get(`${url}/api/events?${query}`)
  const found = (JSON.parse(body) as { data: { id: string }[] }).data.map(({ id }) => id)
  if (response.statusCode !== 206 || found.join() !== recorded.slice(-limit).join())
    throw new Error(`${query}: the feed does not return the newest ${limit} events`)
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
/** The time of the first event of the handwritten table, in microseconds. */
const RAW_START = 1_800_000_000_000_000
const events = sampleEvents(setup.events)
const raw =
  setup.store.store === 'sqlite' ? openRawEvents(`${setup.store.filename}-raw`) : undefined
for (let i = 0; i < events.length; i += BATCH) await record(events.slice(i, i + BATCH))

const { url, close } = await listen(createApp())

serveJobs(
  (job: Job) => (job === 'countReads' ? reads : prepare(job.prepare)),
  () => {
    close()
    raw?.close()
    return audit.close()
  },
)

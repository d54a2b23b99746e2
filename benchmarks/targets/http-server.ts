import http from 'node:http'
import Router from '@koa/router'
import { AuditLog, type EventStore } from 'daybook'
import { auditRoutes, basicAuth, recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { type SampleEvent, sampleEvents, sampleTypes } from '../harness/sample-events.js'
import { type CaseName, CASES } from './http-cases.js'
import { listen } from '../harness/listen.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'

/*
 * A service with an event feed, in a process of its own: `http-server.ts <JSON of a Setup>`. Before the
 * requests of a case it is sent a Job `prepare`, and after them `count`.
 */

export interface Setup {
  readonly store: StoreSetup
  readonly events: number
}

/** Answered with the service's URL and with how often the store was asked since. */
export type Job = { readonly prepare: CaseName } | 'count'
export type Answer = string | number

const USER = 'ann'
const AUTHORIZATION = `Basic ${Buffer.from(`${USER}:${USER}`).toString('base64')}`
const OF_ONE_ANSWER = new Set(['connection', 'keep-alive', 'date', 'content-length'])

let lists = 0
const setup = JSON.parse(process.argv[2] ?? '') as Setup
const store = openStore(setup.store)
const counting: EventStore = {
  ...store,
  list(query, options) {
    lists++
    return store.list(query, options)
  },
}
const audit = new AuditLog({ store: counting, types: sampleTypes })

/** What was recorded, oldest first. */
const recorded: { readonly id: string; readonly event: SampleEvent }[] = []

async function record(events: readonly SampleEvent[]): Promise<void> {
  const stored = await Promise.all(
    events.map(({ type, data, username }) => audit.record(type, data, { username })),
  )
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

/** Adds an event that the case finds, checks the answer, and has it served as it is beside. */
async function prepare(name: CaseName): Promise<string> {
  const { query, limit, matches } = CASES[name]
  await record([recorded.findLast(({ event }) => matches(event))!.event])
  const { response, body } = await get(`${url}/api/events?${query}`)
  const found = (JSON.parse(body) as { data: { id: string }[] }).data.map(({ id }) => id)
  const matching = recorded.filter(({ event }) => matches(event)).map(({ id }) => id)
  if (response.statusCode !== 206 || found.join() !== matching.slice(-limit).join())
    throw new Error(`${query}: these are not the newest ${limit} that match`)
  const headers = Object.entries(response.headers as Record<string, string>).filter(
    ([header]) => !OF_ONE_ANSWER.has(header),
  )
  prepared.set(name, { headers: Object.fromEntries(headers), body })
  const beside = await get(`${url}/prepared/${name}`)
  if (beside.body !== body) throw new Error(`${name}: what was prepared is something else`)
  lists = 0
  return url
}

const MOST_AT_ONCE = 1000
const events = sampleEvents(setup.events)
for (let i = 0; i < events.length; i += MOST_AT_ONCE)
  await record(events.slice(i, i + MOST_AT_ONCE))

const { url, close } = await listen(createApp())

process.on('disconnect', () => {
  close()
  void audit.close()
})
process.on('message', (job: Job) => {
  if (job === 'count') process.send!(lists)
  else void prepare(job.prepare).then((answer) => process.send!(answer))
})
process.send!('ready')

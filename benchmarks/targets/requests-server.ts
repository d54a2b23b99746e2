import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import { AuditLog, defineEventTypes } from 'daybook'
import { recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { listen } from '../harness/listen.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'

/*
 * The same small service twice, its requests recorded and not, in a process of its own:
 * `requests-server.ts <JSON of a StoreSetup>`. To each Job it gives an Answer.
 */

export type Job = 'urls' | 'end'
/** The URLs, or how many events have been stored. */
export type Answer = { readonly recorded: string; readonly plain: string } | number

const audit = new AuditLog({
  store: openStore(JSON.parse(process.argv[2] ?? '') as StoreSetup),
  types: defineEventTypes({ 'api:things:create': {} }),
})

let things = 0

function createApp(isRecorded: boolean): Koa {
  const app = new Koa()
  if (isRecorded) app.use(recordRequests(audit))
  app.use(bodyParser())
  const router = new Router()
  router.post('/api/things', (ctx) => {
    ctx.status = 201
    ctx.body = { id: ++things, ...(ctx.request.body as object) }
  })
  app.use(router.routes())
  return app
}

const recorded = await listen(createApp(true))
const plain = await listen(createApp(false))
const path = '/api/things'
const urls = { recorded: recorded.url + path, plain: plain.url + path }

async function end(): Promise<number> {
  recorded.close()
  plain.close()
  await audit.close()
  return audit.stats().stored
}

process.on('message', (job: Job) => {
  if (job === 'urls') process.send!(urls)
  else void end().then((stored) => process.send!(stored))
})
process.send!('ready')

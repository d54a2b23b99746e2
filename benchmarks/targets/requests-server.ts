import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import { AuditLog, defineEventTypes } from 'daybook'
import { recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { listen } from '../harness/listen.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* The same small service twice: with recorded requests and without. */

/** The answer to `urls` are the URLs of both services, to `close` the number of stored events. */
export type Job = 'urls' | 'close'
export type Answer = { readonly recorded: string; readonly plain: string } | number

const audit = new AuditLog({
  store: openStore(readSetup() as StoreSetup),
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

async function close(): Promise<number> {
  recorded.close()
  plain.close()
  await audit.close()
  return audit.stats().stored
}

serveJobs((job: Job) => (job === 'urls' ? urls : close()))

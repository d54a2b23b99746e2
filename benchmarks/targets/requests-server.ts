import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import { AuditLog, defineEventTypes } from 'daybook'
import { recordRequests } from 'daybook/koa'
import Koa from 'koa'
import { listen, type Listening } from '../harness/listen.js'
import { openStore, type StoreSetup } from '../harness/open-store.js'
import { readSetup, serveJobs } from '../harness/workers.js'

/* The same small service twice, with recorded requests and without: one route, which responds at once with the JSON that it got. */

/** The answer to `urls` are the URLs of both services, to `close` the number of stored events. */
export type Job = 'urls' | 'close'
export type Answer = { readonly recorded: string; readonly plain: string } | number

const PATH = '/api/things'
const audit = new AuditLog({
  store: openStore(readSetup() as StoreSetup),
  types: defineEventTypes({ 'api:things:create': {} }),
})
let things = 0

function start(isRecorded: boolean): Promise<Listening> {
  const app = new Koa()
  if (isRecorded) app.use(recordRequests(audit))
  app.use(bodyParser())
  const router = new Router()
  router.post(PATH, (ctx) => {
    ctx.status = 201
    ctx.body = { id: ++things, ...(ctx.request.body as object) }
  })
  app.use(router.routes())
  return listen(app)
}

const recorded = await start(true)
const plain = await start(false)
const urls = { recorded: recorded.url + PATH, plain: plain.url + PATH }

async function close(): Promise<number> {
  recorded.close()
  plain.close()
  await audit.close()
  return audit.stats().stored
}

serveJobs((job: Job) => (job === 'urls' ? urls : close()))

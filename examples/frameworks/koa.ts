/*
 * Koa 3 with @koa/router: npx tsx examples/frameworks/koa.ts
 */
import { createServer } from 'node:http'
import { bodyParser } from '@koa/bodyparser'
import Router from '@koa/router'
import { AuditLog, defineEventTypes } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import Koa from 'koa'
import { listen, runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const app = new Koa()
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { ann: 'ann' } }))
  app.use(auditRoutes(audit))
  app.use(auditPage(audit))
  app.use(bodyParser())
  const router = new Router()
  router.post('/orders', async (ctx) => {
    await audit.record('info:stock:reserved')
    ctx.status = 201
    ctx.body = { ordered: true }
  })
  app.use(router.routes())
  const handle = app.callback()
  return listen(
    createServer((...exchange) => void handle(...exchange)),
    port,
    audit,
  )
}

await runIfMain(import.meta.filename, start)

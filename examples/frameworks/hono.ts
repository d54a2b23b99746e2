/*
 * Hono on @hono/node-server: npx tsx examples/frameworks/hono.ts
 */
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { AuditLog, defineEventTypes } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/hono'
import { memoryStore } from 'daybook/memory'
import { Hono } from 'hono'
import { listen, runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const app = new Hono()
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { ann: 'ann' } }))
  app.use(auditRoutes(audit), auditPage(audit))
  app.post('/orders', async (context) => {
    await context.req.json()
    await audit.record('info:stock:reserved')
    return context.json({ ordered: true }, 201)
  })
  return listen(createAdaptorServer({ fetch: app.fetch }) as Server, port, audit)
}

await runIfMain(import.meta.filename, start)

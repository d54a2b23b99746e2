/*
 * Express 5: npx tsx examples/frameworks/express.ts
 */
import { createServer } from 'node:http'
import { AuditLog, defineEventTypes } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/express'
import { memoryStore } from 'daybook/memory'
import express from 'express'
import { listen, runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const app = express()
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { ann: 'ann' } }))
  app.use(auditRoutes(audit), auditPage(audit), express.json())
  app.post('/orders', async (_request, response) => {
    await audit.record('info:stock:reserved')
    response.status(201).json({ ordered: true })
  })
  return listen(
    createServer((...exchange) => app(...exchange)),
    port,
    audit,
  )
}

await runIfMain(import.meta.filename, start)

/*
 * Fastify 5: npx tsx examples/frameworks/fastify.ts
 */
import { AuditLog, defineEventTypes } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/fastify'
import { memoryStore } from 'daybook/memory'
import Fastify from 'fastify'
import { runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

export async function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const app = Fastify({ forceCloseConnections: true })
  await app.register(recordRequests(audit))
  await app.register(basicAuth({ users: { ann: 'ann' } }))
  await app.register(auditRoutes(audit))
  await app.register(auditPage(audit))
  app.post('/orders', async (_request, reply) => {
    await audit.record('info:stock:reserved')
    reply.code(201)
    return { ordered: true }
  })
  const url = await app.listen({ port, host: '127.0.0.1' })
  return {
    url,
    async close() {
      await app.close()
      await audit.close()
    },
  }
}

await runIfMain(import.meta.filename, start)

/*
 * Fetch handlers, as for Bun and Deno, on @hono/node-server: npx tsx examples/frameworks/fetch.ts
 */
import type { Server } from 'node:http'
import { createAdaptorServer } from '@hono/node-server'
import { AuditLog, defineEventTypes } from 'daybook'
import { auditPage, auditRoutes, basicAuth, recordRequests } from 'daybook/fetch'
import { memoryStore } from 'daybook/memory'
import { listen, runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

const routeOf = ({ url }: Request): string | undefined =>
  new URL(url).pathname === '/orders' ? '/orders' : undefined

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const record = recordRequests(audit, { route: routeOf })
  const authenticate = basicAuth({ users: { ann: 'ann' } })
  const feed = auditRoutes(audit)
  const page = auditPage(audit)

  const order = async (request: Request): Promise<Response> => {
    if (request.method !== 'POST' || !routeOf(request)) return new Response(null, { status: 404 })
    await request.json()
    await audit.record('info:stock:reserved')
    return Response.json({ ordered: true }, { status: 201 })
  }
  const handle = record(
    authenticate(
      async (request, _server: unknown) =>
        (await feed(request)) ?? (await page(request)) ?? order(request),
    ),
  )
  return listen(createAdaptorServer({ fetch: handle }) as Server, port, audit)
}

await runIfMain(import.meta.filename, start)

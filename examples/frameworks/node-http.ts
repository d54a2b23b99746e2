/*
 * node:http without a framework: npx tsx examples/frameworks/node-http.ts
 */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { AuditLog, defineEventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import {
  auditPage,
  auditRoutes,
  basicAuth,
  type NodeRequest,
  type RecordedListener,
  recordListener,
} from 'daybook/node'
import { listen, runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

const routeOf = ({ url = '' }: NodeRequest): string | undefined =>
  url.split('?')[0] === '/orders' ? '/orders' : undefined

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const authenticate = basicAuth({ users: { ann: 'ann' } })
  const feed = auditRoutes(audit)
  const page = auditPage(audit)

  const order: RecordedListener = async (request, response) => {
    if (request.method !== 'POST' || !routeOf(request)) {
      response.writeHead(404).end()
      return
    }
    Object.assign(request, { body: await json(request) })
    await audit.record('info:stock:reserved')
    response.writeHead(201, { 'content-type': 'application/json' }).end('{"ordered":true}')
  }
  const listener = recordListener(
    audit,
    (request, response) =>
      new Promise((resolve, reject) =>
        authenticate(request, response, () =>
          feed(request, response, () =>
            page(request, response, () => {
              Promise.resolve(order(request, response)).then(resolve, reject)
            }),
          ),
        ),
      ),
    { route: routeOf },
  )
  return listen(createServer(listener), port, audit)
}

await runIfMain(import.meta.filename, start)

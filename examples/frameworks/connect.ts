/*
 * Connect: npx tsx examples/frameworks/connect.ts
 */
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import connect, { type ErrorHandleFunction, type NextHandleFunction } from 'connect'
import { AuditLog, defineEventTypes } from 'daybook'
import { memoryStore } from 'daybook/memory'
import {
  auditPage,
  auditRoutes,
  basicAuth,
  type NodeRequest,
  recordErrors,
  recordRequests,
} from 'daybook/node'
import { listen, runIfMain, type RunningService } from './running.js'

const types = defineEventTypes({ 'api:orders:create': {}, 'info:stock:reserved': {} })

const routeOf = ({ originalUrl = '' }: NodeRequest): string | undefined =>
  originalUrl.split('?')[0] === '/orders' ? '/orders' : undefined

export function start(port: number): Promise<RunningService> {
  const audit = new AuditLog({ store: memoryStore(), types })
  const order: NextHandleFunction = (request, response, next) => {
    const run = async (): Promise<void> => {
      try {
        Object.assign(request, { body: await json(request) })
        await audit.record('info:stock:reserved')
        response.writeHead(201, { 'content-type': 'application/json' }).end('{"ordered":true}')
      } catch (error) {
        next(error)
      }
    }
    void run()
  }
  const app = connect()
  app.use(recordRequests(audit, { route: routeOf }))
  app.use(basicAuth({ users: { ann: 'ann' } }))
  app.use(auditRoutes(audit))
  app.use(auditPage(audit))
  app.use('/orders', order)
  app.use(recordErrors as ErrorHandleFunction)
  return listen(createServer(app), port, audit)
}

await runIfMain(import.meta.filename, start)

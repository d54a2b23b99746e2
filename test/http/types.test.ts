import { AuditLog, defineEventTypes } from 'daybook'
import { auditRoutes } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes } from 'daybook/workflow'
import Koa from 'koa'
import * as v from 'valibot'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkAnswers, errorOf, listOf, send } from '../support/http.js'
import { listen } from '../support/node-server.js'
import { PATH, startFeed } from './access.js'

describe('GET /api/events/types', () => {
  it('returns the definition of each registered type', async () => {
    const types = defineEventTypes({
      'api:orders:create': {
        area: 'Shop',
        description: 'Someone ordered',
        data: ['total', 'currency'],
        sentence: 'ordered for **{total}**',
      },
      'info:orders:import': { live: true, cadence: { hours: 6 }, onlyWhile: 'import_orders' },
      'warn:stock:low': {
        throttle: { period: { days: 1, hours: 12 }, scope: ['shelf'] },
        data: v.object({ shelf: v.string() }),
        enabled: () => false,
      },
      'warn:stock:gone': { throttle: { period: { hours: 1 } } },
    })
    const audit = new AuditLog({ store: memoryStore(), types })
    const app = new Koa().use(auditRoutes(audit, { path: '/log', username: () => 'ann' }))
    const { url, close } = await listen(app.callback())
    const endChecks = checkAnswers(url, audit, '/log')
    onTestFinished(async () => {
      endChecks()
      await close()
      await audit.close()
    })
    const { data, links } = listOf(await send(url, '/log/types'))
    expect(links).toEqual({ self: '/log/types' })
    const nothing = {
      area: null,
      description: null,
      data: null,
      live: false,
      throttle: null,
      cadence: null,
      only_while: null,
      source: null,
      sentence: null,
    }
    const own = data.filter(({ id }) => Object.hasOwn(types, id))
    expect(own).toEqual([
      {
        type: 'event_type',
        id: 'api:orders:create',
        attributes: {
          ...nothing,
          area: 'Shop',
          description: 'Someone ordered',
          data: ['total', 'currency'],
          sentence: 'ordered for **{total}**',
        },
      },
      {
        type: 'event_type',
        id: 'info:orders:import',
        attributes: {
          ...nothing,
          live: true,
          cadence: { hours: 6 },
          only_while: 'import_orders',
        },
      },
      {
        type: 'event_type',
        id: 'warn:stock:low',
        attributes: {
          ...nothing,
          throttle: { period: { days: 1, hours: 12 }, scope: ['shelf'] },
        },
      },
      {
        type: 'event_type',
        id: 'warn:stock:gone',
        attributes: { ...nothing, throttle: { period: { hours: 1 }, scope: [] } },
      },
    ])
    expect(data.map(({ id }) => id)).toEqual(Object.keys(audit.types))
  })

  it('has all types of the workflow service, and an entity tag', async () => {
    const server = await startFeed({})
    const response = await server.send(`${PATH}/types`)
    const ids = listOf(response).data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(Object.keys(workflowEventTypes)))
    const again = { headers: { 'if-none-match': response.headers.etag } }
    expect((await server.send(`${PATH}/types`, again)).status).toBe(304)
    await server.record('ann')
    expect((await server.send(`${PATH}/types`, again)).status).toBe(304)
    const head = await server.send(`${PATH}/types`, { method: 'HEAD' })
    expect([head.status, head.headers.etag, head.body]).toEqual([200, response.headers.etag, ''])
  })

  it('accepts no parameters and only JSON:API', async () => {
    const server = await startFeed({})
    const refused = await server.send(`${PATH}/types?filter[area_eq]=Shop`)
    expect([refused.status, errorOf(refused).detail]).toEqual([
      400,
      'filter[area_eq]: no parameters are allowed here',
    ])
    const html = await server.send(`${PATH}/types`, { headers: { accept: 'text/html' } })
    expect(html.status).toBe(406)
    expect((await server.send(`${PATH}/types`, { method: 'POST' })).headers.allow).toBe('GET, HEAD')
    expect((await server.send(`${PATH}/types`, { user: null })).status).toBe(401)
  })
})

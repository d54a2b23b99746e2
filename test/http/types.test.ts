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
  it('returns the sentences of the language that the client prefers', async () => {
    const types = defineEventTypes({
      'api:orders:create': {
        sentence: 'ordered **{name}**',
        sentences: { de: 'hat **{name}** bestellt' },
      },
      'api:orders:return': { sentence: 'returned **{name}**' },
    })
    const audit = new AuditLog({ store: memoryStore(), types })
    const app = new Koa().use(auditRoutes(audit, { username: () => 'ann' }))
    const { url, close } = await listen(app.callback())
    const endChecks = checkAnswers(url, audit)
    onTestFinished(async () => {
      endChecks()
      await close()
      await audit.close()
    })
    const typesIn = async (language: string) => {
      const headers = { 'accept-language': language }
      const response = await send(url, '/api/events/types', { headers })
      const all = new Map(listOf(response).data.map(({ id, attributes }) => [id, attributes]))
      const { etag, vary, 'content-language': sent } = response.headers
      expect(vary).toContain('Accept-Language')
      return { etag, sent, sentences: Object.keys(types).map((type) => all.get(type)!['sentence']) }
    }
    const english = await typesIn('fr, en;q=0.1')
    const german = await typesIn('de-CH, en;q=0.5')
    expect(english).toMatchObject({
      sent: 'en',
      sentences: ['ordered **{name}**', 'returned **{name}**'],
    })
    expect(german).toMatchObject({
      sent: 'de',
      sentences: ['hat **{name}** bestellt', 'returned **{name}**'],
    })
    expect(english.etag).not.toBe(german.etag)
  })

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

import { AuditLog, defineEventTypes, type EventTypes } from 'daybook'
import { auditRoutes } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowEventTypes } from 'daybook/workflow'
import Koa from 'koa'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { listOf, send } from '../support/http.js'
import { PATH, serveMounted, startFeed } from './access.js'

/** Serves a log with these types at a path, until the end of the test. */
async function serveTypes(types: EventTypes, path = '/api/events') {
  const audit = new AuditLog({ store: memoryStore(), types })
  const app = new Koa().use(auditRoutes(audit, { path, username: () => 'ann' }))
  return { audit, url: await serveMounted(app.callback(), audit, path) }
}

describe('GET /api/events/types', () => {
  it('returns the sentences of the language that the client prefers', async () => {
    const types = defineEventTypes({
      'api:orders:create': {
        sentence: 'ordered **{name}**',
        sentences: { de: 'hat **{name}** bestellt' },
      },
      'api:orders:return': { sentence: 'returned **{name}**' },
    })
    const { url } = await serveTypes(types)
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
    const { audit, url } = await serveTypes(types, '/log')
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
    const definition = (id: string, attributes: object): object => ({
      type: 'event_type',
      id,
      attributes: { ...nothing, ...attributes },
    })
    expect(data.filter(({ id }) => Object.hasOwn(types, id))).toEqual([
      definition('api:orders:create', {
        area: 'Shop',
        description: 'Someone ordered',
        data: ['total', 'currency'],
        sentence: 'ordered for **{total}**',
      }),
      definition('info:orders:import', {
        live: true,
        cadence: { hours: 6 },
        only_while: 'import_orders',
      }),
      definition('warn:stock:low', {
        throttle: { period: { days: 1, hours: 12 }, scope: ['shelf'] },
      }),
      definition('warn:stock:gone', { throttle: { period: { hours: 1 }, scope: [] } }),
    ])
    expect(data.map(({ id }) => id)).toEqual(Object.keys(audit.types))
  })

  it('has all types of the workflow service', async () => {
    const server = await startFeed({})
    const ids = listOf(await server.send(`${PATH}/types`)).data.map(({ id }) => id)
    expect(ids).toEqual(expect.arrayContaining(Object.keys(workflowEventTypes)))
  })
})

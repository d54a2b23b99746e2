import type { AuditEvent, EventTypes, LinkTable } from 'daybook'
import { AuditLog } from 'daybook'
import { recordRequests } from 'daybook/fetch'
import { memoryStore } from 'daybook/memory'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type App, frameworks } from '../support/frameworks.js'
import { send } from '../support/http.js'
import { eventsAtClose, eventsOf, serveOn } from './until-finished.js'

/* Reads of chosen routes, and refused reads, on each framework. */

const links = [
  { attribute: 'order_id', kind: 'integer', path: '/api/orders/{order_id}', rank: 1 },
] as const satisfies LinkTable

function openLog(types: EventTypes = {}): AuditLog {
  const audit = new AuditLog({ store: memoryStore(), types, links: [...links] })
  onTestFinished(() => audit.close())
  return audit
}

const json = (value: unknown) => ({
  status: 200,
  type: 'application/json',
  body: JSON.stringify(value),
})

/** Records whose document has more than 64 KiB. */
const orders = Array.from({ length: 120 }, (_, id) => ({ id: String(id), text: 'x'.repeat(1000) }))

const appOf = (audit: AuditLog): App => ({
  record: [audit, { reads: ['/patients/:id', 'GET /orders', '/orders/:order_id'] }],
  mounts: [
    ['basicAuth', { users: { ann: 'ann', bob: 'bob' } }],
    ['auditRoutes', audit],
  ],
  routes: {
    'GET /patients/:id': ({ params }) => json({ id: params['id'] }),
    'GET /patients': () => json([]),
    'GET /orders': () => json({ data: orders }),
    'GET /orders/:order_id': ({ params }) =>
      params['order_id'] === '9' ? { status: 404 } : json({}),
    'POST /patients/:id': () => ({ status: 201 }),
  },
})

const shown = (events: readonly AuditEvent[]): unknown[] =>
  events.map(({ type, username, source, attributes: { access, count } }) => [
    type,
    username,
    source,
    access,
    count,
  ])

const SHOW = 'api:patients:show'

describe.each(Object.entries(frameworks))('on %s', (_name, framework) => {
  const run = async () => {
    const audit = openLog()
    const url = await serveOn(framework(appOf(audit)))
    const get = async (path: string, user: string | null = 'ann', password = user) => {
      const token = Buffer.from(`${user}:${password}`).toString('base64')
      const headers = user === null ? {} : { authorization: `Basic ${token}` }
      return (await send(url, path, { user: null, headers })).status
    }
    return { audit, get }
  }

  it('the reads of a user become two events for each resource', async () => {
    const { audit, get } = await run()
    for (const path of ['/patients/17', '/patients/17?x=1', '/patients/18', '/patients/17'])
      expect(await get(path)).toBe(200)
    expect(await get('/patients/17', 'bob')).toBe(200)
    for (const path of ['/orders/7', '/orders/7', '/orders/9', '/patients']) await get(path)
    expect(shown(await eventsOf(audit))).toEqual([
      [SHOW, 'ann', '/patients/17', 'read', undefined],
      [SHOW, 'ann', '/patients/18', 'read', undefined],
      [SHOW, 'bob', '/patients/17', 'read', undefined],
      ['api:orders:show', 'ann', '/api/orders/7', 'read', undefined],
    ])
    expect(shown(await eventsAtClose(audit))).toEqual([
      [SHOW, 'ann', '/patients/17', 'read', 2],
      ['api:orders:show', 'ann', '/api/orders/7', 'read', 1],
    ])
  })

  it('the read of a list names at most 100 records', async () => {
    const { audit, get } = await run()
    await get('/orders')
    await get('/orders')
    const [first] = await eventsOf(audit)
    const [rest] = await eventsAtClose(audit)
    const ids = orders.slice(0, 100).map(({ id }) => id)
    for (const event of [first!, rest!])
      expect(event).toMatchObject({
        type: 'api:orders:index',
        source: '/orders',
        attributes: { read_ids: ids, read_ids_more: 20 },
      })
  })

  it('refused reads are counted with the names that were tried', async () => {
    const { audit, get } = await run()
    for (const name of ['ann', 'eve', 'bob']) expect(await get('/api/events', name, 'x')).toBe(401)
    expect(await get('/api/events', null)).toBe(401)
    const [first, ...more] = await eventsOf(audit)
    expect(more).toEqual([])
    expect(first!.attributes).toMatchObject({ response_status: 401, usernames: ['ann'] })
    const [rest] = await eventsAtClose(audit)
    expect(rest!.type).toBe(first!.type)
    expect(rest!.attributes).toMatchObject({ count: 3, usernames: ['eve', 'bob'] })
  })
})

/** Sends requests to a fetch handler that answers with these texts, and returns the events of single requests. */
async function readsOf(
  paths: readonly string[],
  options: Parameters<typeof recordRequests>[1],
  types?: EventTypes,
): Promise<readonly AuditEvent[]> {
  const audit = openLog(types)
  const record = recordRequests(audit, { username: () => 'ann', address: () => '', ...options })
  const handle = record(async () => new Response('x'), '/files/:id')
  for (const path of paths) await handle(new Request(`http://service.test${path}`))
  return [...(await eventsOf(audit)), ...(await eventsAtClose(audit))]
}

it('one resource has one source, however its path is written', async () => {
  const id = '0198C7E2-0000-7000-8000-00000000000A'
  const paths = ['/files/a%62', '/files/ab/', '/files/ab?x=1', `/files/${id}`]
  const events = await readsOf([...paths, paths[3]!.toLowerCase()], { reads: ['/files/:id'] })
  expect(events.map(({ source, attributes }) => [source, attributes['count']])).toEqual([
    ['/files/ab', undefined],
    [`/files/${id.toLowerCase()}`, undefined],
    ['/files/ab', 2],
    [`/files/${id.toLowerCase()}`, 1],
  ])
})

it('a secret in a path is in no source', async () => {
  const [event] = await readsOf([`/files/ghp_${'a'.repeat(36)}`], { reads: ['/files/:id'] })
  expect(event!.source).toBe('/files/%5Bredacted%5D')
})

it('link attributes of describe tell resources apart', async () => {
  const describe = ({ url }: Request) => ({ order_id: Number(url.at(-1)), password: 'x' })
  const events = await readsOf(['/a/1', '/b/2', '/c/1'], { reads: ['/files/:id'], describe })
  expect(events.map(({ source, attributes }) => [source, attributes['count']])).toEqual([
    ['/api/orders/1', undefined],
    ['/api/orders/2', undefined],
    ['/api/orders/1', 1],
  ])
  expect(events[0]!.attributes['password']).toBe('[redacted]')
})

it.each<[string, unknown, string]>([
  ['no list', '/files/:id', 'reads must be a list of routes'],
  ['another method', ['POST /files'], 'reads: "POST /files" must be the path of a route'],
  ['no path', [17], 'reads: 17 must be the path of a route'],
])('wrong reads are refused: %s', (_case, reads, message) => {
  expect(() => recordRequests(openLog(), { reads: reads as string[] })).toThrow(message)
})

it('a read whose type needs a reason is recorded without it, with the outcome of the request', async () => {
  const types = { 'api:files:show': { reason: 'required', outcome: 'failure' } } as const
  const events = await readsOf(['/files/1', '/files/1'], { reads: ['/files/:id'] }, types)
  expect(events.map(({ attributes: { outcome, count } }) => [outcome, count])).toEqual([
    ['success', undefined],
    ['success', 1],
  ])
})

it('a read can be named in routes', async () => {
  const options = { reads: ['/files/:id'], routes: { 'GET /files/:id': 'files:open' } }
  const [event] = await readsOf(['/files/1'], options)
  expect(event!.type).toBe('api:files:open')
  const wrong = { routes: { 'GET /files/:id': 'files:open' } }
  expect(() => recordRequests(openLog(), wrong)).toThrow('must be a method in upper case')
})

import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import {
  type Actor,
  type AuditEvent,
  AuditLog,
  currentActor,
  type EventStore,
  withActor,
} from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { faultyStore } from 'daybook/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { JSON_API, listOf, type RawRequest, send } from '../support/http.js'
import {
  type Answer,
  type App,
  type Framework,
  frameworks,
  type Handler,
  headerOf,
} from '../support/frameworks.js'
import { listen } from '../support/node-server.js'
import { randomOf } from '../support/random.js'
import { SOAK_SECONDS, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { takeWarnings } from '../support/warnings.js'
import { CLOSE, rawRequest, responsesTo } from './raw.js'
import { type Audit, sentIds, types, worker, wrongUsers } from './work.js'

const error = (status: number | undefined, message: string): Error =>
  Object.assign(new Error(message), status === undefined ? {} : { status })

const login: Handler = ({ state, header }) => {
  state['username'] = header('x-user')
  return { status: 200, type: 'text/plain', body: 'hello' }
}

/** Attributes with one meaning in system events, as a client may post them. */
const POSTED = {
  outcome: 'posted',
  actor_id: 'posted',
  actor_kind: 'posted',
  on_behalf_of: 'posted',
  session_id: 'posted',
  agent_session_id: 'posted',
  reason: 'posted',
  approved_by: 'posted',
}

/** The handlers of the service. */
const routes: Readonly<Record<string, Handler>> = {
  'GET /orders': login,
  'POST /orders': () => ({ status: 201, type: 'application/json', body: '{"made":1}' }),
  'PUT /orders/:id': async (call) => {
    await login(call)
    return { status: 200, type: 'text/plain', body: 'as you wish' }
  },
  'POST /orders/:id/start': () => ({ status: 204 }),
  'DELETE /orders/:id': () => ({
    status: 409,
    type: JSON_API,
    body: '{"errors":[{"detail":"it is running"}]}',
  }),
  'PATCH /orders/:id': () => {
    throw error(422, 'name is missing')
  },
  'POST /orders/:id/print': () => {
    throw error(undefined, 'the printer is on fire')
  },
  'GET /orders/:id/print': async () => {
    await Promise.resolve()
    throw error(undefined, 'the printer is still on fire')
  },
  'GET /orders/:id': () => ({ status: 404, type: 'text/plain', body: 'no such order' }),
  'POST /orders/export': () => ({
    status: 200,
    type: 'text/plain',
    body: ['one ', 'two ', 'three'],
  }),
  'POST /orders/refuse': () => ({ status: 400, type: 'text/plain', body: 'not like this' }),
  'POST /busy': () => ({ status: 503, type: 'text/plain', body: 'try later' }),
  'POST /tokens/:token': () => ({ status: 204 }),
}

/** The response of the error handler of every host. */
function answerTo(error: unknown): Answer {
  const { status = 500, message } = Object(error) as { status?: number; message?: string }
  return { status, type: 'text/plain', body: status < 500 ? String(message) : 'it failed' }
}

const newLog = (store: EventStore = memoryStore()): AuditLog => new AuditLog({ store, types: {} })

/** Starts an app of one framework. `app.record` contains its log, if it has one. */
async function start(framework: Framework, app: App): Promise<{ url: string; port: number }> {
  const { url, close } = await listen(framework({ routes, answerTo, ...app }))
  onTestFinished(async () => {
    await close()
    await app.record?.[0].close()
  })
  return { url, port: Number(new URL(url).port) }
}

const eventsOf = async (audit: AuditLog): Promise<readonly AuditEvent[]> =>
  (await audit.list({ limit: 1000 })).events

/** Requests, with their events on every host. */
const TABLE: readonly [
  method: string,
  path: string,
  status: number,
  event?: readonly [type: string, attributes?: Readonly<Record<string, unknown>>],
][] = [
  ['GET', '/orders', 200],
  ['POST', '/orders?a=1', 201, ['api:orders:create', { request_path: '/orders' }]],
  ['PUT', '/orders/7', 200, ['api:orders:update', { url_params: { id: '7' } }]],
  ['POST', '/orders/7/start', 204, ['api:orders:start', { url_params: { id: '7' } }]],
  ['DELETE', '/orders/7', 409, ['error:orders:destroy', { error: 'it is running' }]],
  ['PATCH', '/orders/7', 422, ['error:orders:update', { error: 'name is missing' }]],
  [
    'POST',
    '/orders/7/print',
    500,
    [
      'error:api:controller:unhandled',
      {
        error: 'the printer is on fire',
        backtrace: expect.stringContaining('record-hosts.test') as string,
      },
    ],
  ],
  [
    'GET',
    '/orders/7/print',
    500,
    ['error:api:controller:unhandled', { error: 'the printer is still on fire' }],
  ],
  ['GET', '/orders/8', 404],
  ['POST', '/orders/export', 200, ['api:export:create']],
  ['POST', '/orders/refuse', 400, ['error:refuse:create', { error: 'not like this' }]],
  ['POST', '/busy', 503, ['error:api:controller:unhandled', { error: 'try later' }]],
  ['POST', '/nowhere', 404, ['error:unmatched:create', { error: 'nothing is here' }]],
  [
    'POST',
    '/tokens/hush',
    204,
    [
      'api:tokens:create',
      { request_path: '/tokens/[redacted]', url_params: { token: '[redacted]' } },
    ],
  ],
]

const exchanges: readonly string[] = [
  ...TABLE.map(([method, path]) => rawRequest(`${method} ${path}`, CLOSE)),
  rawRequest('HEAD /orders', CLOSE),
  rawRequest('POST /orders', `${CLOSE}Transfer-Encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
  rawRequest('POST /orders', `${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n`, '{}'),
  'POST /orders/export HTTP/1.0\r\n\r\n',
  rawRequest('POST /orders', 'Content-Length: 0\r\n') +
    rawRequest('POST /orders/export', 'Content-Length: 0\r\n') +
    rawRequest('DELETE /orders/1', 'Content-Length: 0\r\n') +
    rawRequest('GET /orders', CLOSE),
]

/** DAYBOOK_SEED repeats the interleavings of a run. */
const SEED = Number(process.env['DAYBOOK_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

const post: RawRequest = { method: 'POST', user: null }

describe.each(Object.entries(frameworks))('on %s', (name, framework) => {
  it('requests leave the events of the table', async () => {
    const audit = newLog()
    const { url } = await start(framework, { record: [audit] })
    for (const [method, path, status] of TABLE) {
      const response = await send(url, path, { method, user: null })
      expect([method, path, response.status]).toEqual([method, path, status])
    }
    const expected = TABLE.flatMap(([method, path, status, event]) => {
      if (!event) return []
      const [type, attributes] = event
      const [request_path] = path.split('?')
      const given = { request_method: method, request_path, response_status: status }
      return [{ type, system: true, attributes: { ...given, ...attributes } }]
    })
    const events = await eventsOf(audit)
    expect(events).toMatchObject(expected)
    for (const { attributes } of events) {
      expect(attributes).not.toHaveProperty('aborted')
      expect(attributes['remote_address']).toBe('127.0.0.1')
    }
  })

  it('every method except the safe ones is recorded', async () => {
    const audit = newLog()
    const { url } = await start(framework, { record: [audit, { username: () => 'ann' }] })
    const methods = http.METHODS.filter((method) => method !== 'CONNECT')
    for (const method of methods) await send(url, '/nowhere', { method, user: null })
    const verbs: Record<string, string> = {
      POST: 'create',
      PUT: 'update',
      PATCH: 'update',
      DELETE: 'destroy',
    }
    const safe = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])
    const mutating = methods.filter((method) => !safe.has(method))
    expect(mutating.length).toBeGreaterThan(28)
    const events = await eventsOf(audit)
    expect(events.map(({ attributes }) => attributes['request_method'])).toEqual(mutating)
    for (const [i, { type, attributes }] of events.entries()) {
      const method = mutating[i]!
      const verb = verbs[method] ?? method.toLowerCase()
      // Fastify fails at QUERY.
      const failed = method === 'QUERY' && attributes['response_status'] === 500
      expect(type).toBe(failed ? 'error:api:controller:unhandled' : `error:unmatched:${verb}`)
    }
  })

  it('no byte of a response changes', async () => {
    const recorded = await start(framework, { record: [newLog()] })
    const plain = await start(framework, {})
    for (const sent of exchanges) {
      const responses = await responsesTo(recorded.port, sent)
      expect(responses).toBe(await responsesTo(plain.port, sent))
      expect(responses).toMatch(/^HTTP\/1\.1 \d{3} /)
    }
  })

  it('the user may be known only when the handler runs', async () => {
    const audit = newLog()
    const { url } = await start(framework, { record: [audit] })
    const headers = { 'x-user': 'ann', 'x-request-id': 'r1' }
    await send(url, '/orders/7', { method: 'PUT', user: null, headers })
    expect(await eventsOf(audit)).toMatchObject([
      { username: 'ann', attributes: { request_id: 'r1' } },
    ])
  })

  it('the user may have further fields, which its events get as attributes', async () => {
    const audit = newLog()
    let user: Actor = {
      username: 'ann',
      id: 7,
      kind: 'agent',
      on_behalf_of: 'bob',
      session_id: 's1',
    }
    const within: Handler = async () => {
      await audit.recordSystem('info:within')
      await withActor('eve', () => audit.recordSystem('info:nested'))
      return { status: 204 }
    }
    const { url } = await start(framework, {
      record: [audit, { username: () => user }],
      routes: { 'POST /orders': within },
    })
    const headers = { 'x-request-id': 'r1', 'user-agent': 'curl/8' }
    await send(url, '/orders', { ...post, headers })
    const ofAnn = {
      actor_id: '7',
      actor_kind: 'agent',
      on_behalf_of: 'bob',
      session_id: 's1',
      request_id: 'r1',
    }
    const [inHandler, nested, ofRequest] = await eventsOf(audit)
    expect(inHandler).toMatchObject({ username: 'ann', attributes: ofAnn })
    expect(nested).toMatchObject({ username: 'eve', attributes: { request_id: 'r1' } })
    expect(nested!.attributes).not.toHaveProperty('actor_kind')
    const known = { ...ofAnn, outcome: 'success', user_agent: 'curl/8' }
    expect(ofRequest).toMatchObject({ username: 'ann', attributes: known })
    expect(ofRequest!.attributes['remote_address']).toBe('127.0.0.1')
    user = { username: 'ann', remote_address: '192.0.2.7' }
    await send(url, '/orders', { ...post, headers })
    expect((await eventsOf(audit)).at(-1)).toMatchObject({
      attributes: { remote_address: '192.0.2.7' },
    })
  })

  it('the user of basicAuth is the actor of the handler, after the body has been read too', async () => {
    const audit = newLog()
    const order: Handler = async () => {
      await turn()
      // Code without access to the request.
      await audit.recordCustom('ordered', { actor: currentActor()?.username })
      return { status: 201 }
    }
    const { url } = await start(framework, {
      record: [audit],
      mounts: [['basicAuth', { users: { ann: 'ann', bob: 'bob' } }]],
      routes: { 'POST /orders': order },
    })
    const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
    expect((await send(url, '/orders', { ...json, user: 'bob' })).status).toBe(201)
    expect((await send(url, '/orders', { ...json, user: 'bob:wrong' })).status).toBe(401)
    expect(await eventsOf(audit)).toMatchObject([
      { type: 'ordered', username: 'bob', attributes: { actor: 'bob' } },
      { type: 'api:orders:create', username: 'bob' },
      // Koa finds a route only if the request has reached its router.
      { type: `error:${name === 'Koa' ? 'unmatched' : 'orders'}:create`, username: null },
    ])
  })

  it('shows nothing that a client posts under names with one meaning as a fact', async () => {
    const audit = newLog()
    const auth = { users: { ann: 'ann' }, failures: false }
    const { url } = await start(framework, {
      record: [audit, { reads: ['/orders/:id'] }],
      mounts: [
        ['basicAuth', auth],
        ['auditRoutes', audit],
      ],
      routes: { ...routes, 'GET /orders/:id': () => ({ status: 200, body: '{}' }) },
    })
    const body = JSON.stringify({
      ...POSTED,
      data: { type: 'Event', attributes: { ...POSTED, type: 'x' } },
    })
    const form = new URLSearchParams(POSTED).toString()
    for (const [method, path, type, sent, user = 'ann'] of [
      ['POST', '/api/events', JSON_API, body],
      ['POST', '/api/events', JSON_API, body, 'eve:wrong'],
      ['POST', '/api/events', 'application/json', body],
      ['POST', '/orders', 'application/json', body],
      ['POST', '/orders', JSON_API, body],
      ['POST', `/orders?${form}`, 'application/x-www-form-urlencoded', form],
      ['POST', '/orders/refuse', 'application/json', body],
      ['POST', '/busy', 'application/json', body],
      ['GET', `/orders/7?${form}`, undefined, undefined],
    ] as const) {
      const headers = { ...POSTED, ...(type && { 'content-type': type }) }
      await send(url, path, { method, headers, user, ...(sent && { body: sent }) })
    }
    const events = await eventsOf(audit)
    expect(events.filter(({ system }) => !system)).toMatchObject([
      { type: 'x', attributes: POSTED },
    ])
    const system = events.filter((event) => event.system)
    expect(system.length).toBeGreaterThanOrEqual(6)
    for (const { attributes } of system)
      for (const known of Object.keys(POSTED)) expect(attributes[known]).not.toBe('posted')
    for (const known of Object.keys(POSTED)) {
      const found = await audit.list(`filter[system_true]=1&filter[${known}_eq]=posted`)
      expect(found.events).toEqual([])
    }
  })

  it('failures of basicAuth are counted by the address of the client', async () => {
    const address = (context: object): string => headerOf(context, 'x-client') ?? ''
    const auth = { users: { ann: 'ann' }, failures: { perUser: 1 }, address }
    const { url } = await start(framework, { mounts: [['basicAuth', auth]] })
    const from = async (client: string, user: string): Promise<number> =>
      (await send(url, '/orders', { user, headers: { 'x-client': client } })).status
    expect(await from('192.0.2.1', 'ann:wrong')).toBe(401)
    expect(await from('192.0.2.1', 'ann')).toBe(429)
    // Koa and Fastify know the address of the client, which is always the same here.
    const knowsAddress = ['Koa', 'Fastify'].includes(name)
    expect(await from('192.0.2.2', 'ann')).toBe(knowsAddress ? 429 : 200)
  })

  it('listRoute shows the visible items; the error handler answers errors of the host', async () => {
    const warnings = takeWarnings()
    const visible = (context: object): object => {
      const owner = headerOf(context, 'x-user')
      if (owner === undefined) throw new Error('the directory is away')
      return { owner_eq: owner }
    }
    const source = ['ann', 'bob', 'ann'].map((owner, n) => ({ id: String(n), owner, n }))
    const attributes = { n: 'number', owner: 'string' }
    const { url } = await start(framework, {
      lists: { '/things': { resource: 'thing', attributes, source, visible } },
    })
    const path = '/things?filter[m]=or&filter[n_gteq]=0'
    const { data, links } = listOf(await send(url, path, { headers: { 'x-user': 'ann' } }))
    expect([data.map(({ id }) => id), links.self]).toEqual([['0', '2'], path])
    const failed = await send(url, path)
    const isAlone = name === 'node:http'
    expect(failed.status).toBe(500)
    expect(failed.body).toMatch(isAlone ? /INTERNAL_ERROR/ : /^it failed$/)
    expect(warnings).toEqual(isAlone ? [new Error('the directory is away')] : [])
  })

  it(
    `events within a request have its user and its ids, with interleaved requests (seed ${SEED})`,
    async () => {
      const audit: Audit = new AuditLog({ store: memoryStore(), types })
      const work = worker(audit, randomOf(SEED))
      const { port } = await start(framework, {
        record: [audit],
        routes: {
          'POST /work/:n': async ({ state, params }) => {
            await work(state, Number(params['n']))
            return { status: 204 }
          },
        },
      })
      const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
      const end = performance.now() + SOAK_SECONDS * 1000
      let next = 0
      const client = async (): Promise<void> => {
        while (next < 80 || performance.now() < end) {
          const headers = { 'content-type': 'application/json', ...sentIds(next) }
          const path = `/work/${next++}`
          const sent = http
            .request({ port, host: '127.0.0.1', path, method: 'POST', agent, headers })
            .end('{}')
          const [response] = (await once(sent, 'response')) as [http.IncomingMessage]
          response.resume()
          await once(response, 'end')
          expect(response.statusCode).toBe(204)
        }
      }
      await Promise.all(Array.from({ length: 20 }, client))
      agent.destroy()
      const { seen, wrong } = await wrongUsers(audit, { haveIds: true })
      expect(wrong).toEqual([])
      expect(seen).toBeGreaterThanOrEqual(next)
      const users = new Set<string | null>()
      for await (const events of audit.pages('filter[type_eq]=api:work:create'))
        for (const { username } of events) users.add(username)
      expect(users.size).toBe(next)
      if (SOAK_SECONDS > 0) console.log(`${next} requests on ${name}, seed ${SEED}`)
    },
    soakTimeout(180_000),
  )

  it('an event in a transaction of a handler has the user of the request, and is rolled back with the transaction', async () => {
    const { file, remove } = tempDir()
    const filename = file('audit.db')
    const database = new Database(filename)
    onTestFinished(() => {
      database.close()
      remove()
    })
    const audit = newLog(sqliteStore({ filename }))
    const shipIn: Handler = async ({ state, params }) => {
      await turn()
      state['username'] = 'ann'
      database.exec('BEGIN')
      await audit.recordCustom(`shipped_${String(params['id'])}`, {}, { transaction: database })
      database.exec(params['id'] === '1' ? 'COMMIT' : 'ROLLBACK')
      return { status: 204 }
    }
    const routes = { 'POST /orders/:id/ship': shipIn }
    const { url } = await start(framework, { record: [audit], routes })
    for (const id of [1, 2]) await send(url, `/orders/${id}/ship`, post)
    const events = await eventsOf(audit)
    expect(events.map(({ type, username }) => [type, username])).toEqual([
      ['shipped_1', 'ann'],
      ['api:orders:ship', 'ann'],
      ['api:orders:ship', 'ann'],
    ])
  })

  it('a client that disconnects leaves one event, marked as aborted', async () => {
    let arrived = (): void => {}
    const isHandled = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const audit = newLog()
    const slow: Handler = async ({ closed }) => {
      arrived()
      if (!closed.aborted) await once(closed, 'abort')
      return { status: 200, body: 'too late' }
    }
    const { port } = await start(framework, { record: [audit], routes: { 'POST /slow': slow } })
    const recorded = new Promise((resolve) => audit.on('recorded', resolve))
    const socket = net.connect(port, '127.0.0.1')
    socket.write(rawRequest('POST /slow', 'Content-Length: 0\r\n'))
    await isHandled
    socket.destroy()
    await recorded
    await audit.flush()
    const attributes = { aborted: true, remote_address: '127.0.0.1', response_status: 200 }
    const events = await eventsOf(audit)
    expect(events).toMatchObject([{ type: 'api:slow:create', attributes }])
    expect(events[0]!.attributes).not.toHaveProperty('outcome')
    expect(events[0]!.attributes).not.toHaveProperty('recording')
  })

  it('the response waits until its event is durable', async () => {
    const store = faultyStore(memoryStore())
    const audit = newLog(store)
    const { url } = await start(framework, { record: [audit] })
    store.hang('append')
    let isAnswered = false
    const response = send(url, '/orders', post).finally(() => {
      isAnswered = true
    })
    await expect.poll(() => audit.stats().waiting).toBe(1)
    await send(url, '/orders', { user: null })
    expect(isAnswered).toBe(false)
    store.heal()
    expect((await response).status).toBe(201)
  })

  it('the response is sent if its event cannot be recorded', async () => {
    const store = faultyStore(memoryStore())
    store.fail('append')
    const audit = newLog(store)
    const rejected: string[] = []
    audit.on('rejected', ({ type, error }) => rejected.push(`${type} ${error.code}`))
    const { url } = await start(framework, { record: [audit] })
    const response = await send(url, '/orders', post)
    expect([response.status, response.body]).toEqual([201, '{"made":1}'])
    expect(rejected).toEqual(['api:orders:create STORE_FAILED'])
    store.heal()
  })

  it('a required request is not handled without an intent', async () => {
    const store = faultyStore(memoryStore())
    const audit = newLog(store)
    audit.on('rejected', () => {})
    const { url } = await start(framework, { record: [audit, { required: true }] })
    expect((await send(url, '/orders', post)).status).toBe(201)
    store.fail('updateState')
    store.fail('append')
    const refused = await send(url, '/orders', post)
    expect([refused.status, refused.headers['content-type']]).toEqual([503, JSON_API])
    store.heal()
    expect((await send(url, '/orders', post)).status).toBe(201)
    const types = (await eventsOf(audit)).map(({ type }) => type)
    expect(types.filter((type) => type === 'api:orders:create')).toHaveLength(2)
  })

  it('an empty user name is no user, also for events within the request', async () => {
    const audit = newLog()
    const work: Handler = async () => {
      await audit.recordCustom('done', {})
      return { status: 204 }
    }
    const record: App['record'] = [audit, { username: () => '' }]
    const { url } = await start(framework, { record, routes: { 'POST /orders': work } })
    await send(url, '/orders', post)
    const found = await eventsOf(audit)
    expect(found.map(({ username }) => username)).toEqual([null, null])
  })

  it('describe sees a failure with the status 200', async () => {
    const audit = newLog()
    const seen: unknown[] = []
    const describe = (_request: unknown, response: { status: number; body: unknown }) => {
      seen.push(response.body)
      const { errors } = Object(response.body) as { errors?: { message: string }[] }
      return errors && { error: errors[0]!.message }
    }
    const graphql: Handler = () => ({
      status: 200,
      type: 'application/json',
      body: '{"data":null,"errors":[{"message":"no such order"}]}',
    })
    const own: App = {
      record: [audit, { describe }],
      routes: { ...routes, 'POST /graphql': graphql },
    }
    const { url } = await start(framework, own)
    await send(url, '/graphql', post)
    await send(url, '/orders/refuse', post)
    await send(url, '/orders/export', post)
    const found = (await eventsOf(audit)).map(({ type, attributes }) => [type, attributes['error']])
    expect(found).toEqual([
      ['api:graphql:create', 'no such order'],
      ['error:refuse:create', 'not like this'],
      ['api:export:create', undefined],
    ])
    expect(seen).toEqual([
      { data: null, errors: [{ message: 'no such order' }] },
      'not like this',
      undefined,
    ])
  })

  it('routes may be named, or not recorded', async () => {
    const audit = newLog()
    const routes = { 'POST /orders': 'carts:buy', 'PUT /orders/:id': false }
    const { url } = await start(framework, { record: [audit, { routes }] })
    await send(url, '/orders', post)
    await send(url, '/orders/1', { method: 'PUT', user: null })
    expect((await eventsOf(audit)).map(({ type }) => type)).toEqual(['api:carts:buy'])
  })
})

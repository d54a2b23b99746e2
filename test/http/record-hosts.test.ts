import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { type Actor, type AuditEvent, AuditLog, withActor } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { sqliteStore } from 'daybook/sqlite'
import { faultyStore } from 'daybook/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RawRequest, send } from '../support/http.js'
import {
  type Handler,
  type RecordedHost,
  recordedHosts,
  type RunningHost,
  type Service,
} from '../support/recorded-hosts.js'
import { SOAK_SECONDS, soakTimeout } from '../support/soak.js'
import { tempDir } from '../support/temp.js'
import { type Audit, randomFrom, sentIds, types, worker, wrongUsers } from './work.js'

const JSON_API = 'application/vnd.api+json'

const error = (status: number | undefined, message: string): Error =>
  Object.assign(new Error(message), status === undefined ? {} : { status })

const login: Handler = ({ state, header }) => {
  state['username'] = header('x-user')
  return { status: 200, type: 'text/plain', body: 'hello' }
}

/** What the service does. */
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

async function start(
  host: RecordedHost,
  service: Partial<Service> = {},
  audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} }),
): Promise<RunningHost & { readonly audit: AuditLog }> {
  const running = await host.start({ routes, audit, ...service })
  onTestFinished(async () => {
    await running.close()
    await audit.close()
  })
  return { ...running, audit }
}

const eventsOf = async (audit: AuditLog): Promise<readonly AuditEvent[]> =>
  (await audit.list({ limit: 1000 })).events

/** Requests and the events that they leave on every host. */
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

const CLOSE = 'Connection: close\r\n'
const request = (line: string, headers = '', body = ''): string =>
  `${line} HTTP/1.1\r\nHost: x\r\n${headers}\r\n${body}`

const exchanges: readonly string[] = [
  ...TABLE.map(([method, path]) => request(`${method} ${path}`, CLOSE)),
  request('HEAD /orders', CLOSE),
  request('POST /orders', `${CLOSE}Transfer-Encoding: chunked\r\n`, '2\r\n{}\r\n0\r\n\r\n'),
  request('POST /orders', `${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n`, '{}'),
  'POST /orders/export HTTP/1.0\r\n\r\n',
  request('POST /orders', 'Content-Length: 0\r\n') +
    request('POST /orders/export', 'Content-Length: 0\r\n') +
    request('DELETE /orders/1', 'Content-Length: 0\r\n') +
    request('GET /orders', CLOSE),
]

/** The response bytes of one connection, without dates. */
async function responsesTo(port: number, sent: string): Promise<string> {
  const socket = net.connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.write(sent)
  await once(socket, 'end')
  socket.end()
  return Buffer.concat(chunks)
    .toString('latin1')
    .replaceAll(/^Date: .*\r\n/gim, '')
}

/** DAYBOOK_SEED repeats the interleavings of a run. */
const SEED = Number(process.env['DAYBOOK_SEED'] ?? Math.floor(Math.random() * 2 ** 31))

describe.each(Object.entries(recordedHosts))('on %s', (name, host) => {
  it('requests leave the events of the table', async () => {
    const { url, audit } = await start(host)
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

  it('every method but the safe ones is recorded', async () => {
    const { url, audit } = await start(host, { record: { username: () => 'ann' } })
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
    const recorded = await start(host)
    const plain = await start(host, { audit: undefined })
    for (const sent of exchanges) {
      const responses = await responsesTo(recorded.port, sent)
      expect(responses).toBe(await responsesTo(plain.port, sent))
      expect(responses).toMatch(/^HTTP\/1\.1 \d{3} /)
    }
    expect(await eventsOf(plain.audit)).toEqual([])
  })

  it('the user may be known only when the handler runs', async () => {
    const { url, audit } = await start(host)
    const headers = { 'x-user': 'ann', 'x-request-id': 'r1' }
    await send(url, '/orders/7', { method: 'PUT', user: null, headers })
    expect(await eventsOf(audit)).toMatchObject([
      { username: 'ann', attributes: { request_id: 'r1' } },
    ])
  })

  it('the user may have further fields, which its events get as attributes', async () => {
    const audit: AuditLog = new AuditLog({ store: memoryStore(), types: {} })
    let user: Actor = { username: 'ann', kind: 'agent', on_behalf_of: 'bob', session_id: 's1' }
    const record = { username: () => user }
    const within: Handler = async () => {
      await audit.recordSystem('info:within')
      await withActor('eve', () => audit.recordSystem('info:nested'))
      return { status: 204 }
    }
    const { url } = await start(host, { record, routes: { 'POST /orders': within } }, audit)
    const headers = { 'x-request-id': 'r1' }
    const post = () => send(url, '/orders', { method: 'POST', user: null, headers })
    await post()
    const ofAnn = { actor_kind: 'agent', on_behalf_of: 'bob', session_id: 's1', request_id: 'r1' }
    const [inHandler, nested, ofRequest] = await eventsOf(audit)
    expect(inHandler).toMatchObject({ username: 'ann', attributes: ofAnn })
    expect(nested).toMatchObject({ username: 'eve', attributes: { request_id: 'r1' } })
    expect(nested!.attributes).not.toHaveProperty('actor_kind')
    expect(ofRequest).toMatchObject({ username: 'ann', attributes: ofAnn })
    expect(ofRequest!.attributes['remote_address']).toBe('127.0.0.1')
    user = { username: 'ann', remote_address: '192.0.2.7' }
    await post()
    expect((await eventsOf(audit)).at(-1)).toMatchObject({
      attributes: { remote_address: '192.0.2.7' },
    })
  })

  it(
    `events within a request have its user and its ids, with interleaved requests (seed ${SEED})`,
    async () => {
      const audit: Audit = new AuditLog({ store: memoryStore(), types })
      const work = worker(audit, randomFrom(SEED))
      const { port } = await start(
        host,
        {
          routes: {
            'POST /work/:n': async ({ state, params }) => {
              await work(state, Number(params['n']))
              return { status: 204 }
            },
          },
        },
        audit,
      )
      const agent = new http.Agent({ keepAlive: true, maxSockets: 20 })
      const end = performance.now() + SOAK_SECONDS * 1000
      let next = 0
      const client = async (): Promise<void> => {
        while (next < 150 || performance.now() < end) {
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

  it('an event in a transaction of a handler has its user, and is rolled back with it', async () => {
    const { file, remove } = tempDir()
    const filename = file('audit.db')
    const database = new Database(filename)
    onTestFinished(() => {
      database.close()
      remove()
    })
    const audit: AuditLog = new AuditLog({ store: sqliteStore({ filename }), types: {} })
    const shipIn: Handler = async ({ state, params }) => {
      await turn()
      state['username'] = 'ann'
      database.exec('BEGIN')
      await audit.recordCustom(`shipped_${String(params['id'])}`, {}, { transaction: database })
      database.exec(params['id'] === '1' ? 'COMMIT' : 'ROLLBACK')
      return { status: 204 }
    }
    const { url } = await start(host, { routes: { 'POST /orders/:id/ship': shipIn } }, audit)
    for (const id of [1, 2]) await send(url, `/orders/${id}/ship`, { method: 'POST', user: null })
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
    const { port, audit } = await start(host, {
      routes: {
        'POST /slow': async ({ closed }) => {
          arrived()
          if (!closed.aborted) await once(closed, 'abort')
          return { status: 200, body: 'too late' }
        },
      },
    })
    const recorded = new Promise((resolve) => audit.on('recorded', resolve))
    const socket = net.connect(port, '127.0.0.1')
    socket.write(request('POST /slow', 'Content-Length: 0\r\n'))
    await isHandled
    socket.destroy()
    await recorded
    await audit.flush()
    expect(await eventsOf(audit)).toMatchObject([
      { type: 'api:slow:create', attributes: { aborted: true, remote_address: '127.0.0.1' } },
    ])
  })

  it('the response waits until its event is durable', async () => {
    const store = faultyStore(memoryStore())
    const audit: AuditLog = new AuditLog({ store, types: {} })
    const { url } = await start(host, {}, audit)
    store.hang('append')
    let isAnswered = false
    const response = send(url, '/orders', { method: 'POST', user: null }).finally(() => {
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
    const audit: AuditLog = new AuditLog({ store, types: {} })
    const rejected: string[] = []
    audit.on('rejected', ({ type }) => rejected.push(type))
    const { url } = await start(host, {}, audit)
    const response = await send(url, '/orders', { method: 'POST', user: null })
    expect([response.status, response.body]).toEqual([201, '{"made":1}'])
    expect(rejected).toEqual(['api:orders:create'])
    store.heal()
  })

  it('a required request is not handled without an intent', async () => {
    const store = faultyStore(memoryStore())
    const audit: AuditLog = new AuditLog({ store, types: {} })
    audit.on('rejected', () => {})
    const { url } = await start(host, { record: { required: true } }, audit)
    const post: RawRequest = { method: 'POST', user: null }
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

  it('routes may be named, or not recorded', async () => {
    const { url, audit } = await start(host, {
      record: { routes: { 'POST /orders': 'carts:buy', 'PUT /orders/:id': false } },
    })
    await send(url, '/orders', { method: 'POST', user: null })
    await send(url, '/orders/1', { method: 'PUT', user: null })
    expect((await eventsOf(audit)).map(({ type }) => type)).toEqual(['api:carts:buy'])
  })
})

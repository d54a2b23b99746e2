import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import type Router from '@koa/router'
import { bodyParser } from '@koa/bodyparser'
import type { AuditEvent } from 'daybook'
import { recordRequests } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import Koa from 'koa'
import { afterEach, describe, expect, it } from 'vitest'
import {
  JSON_API,
  newEvent,
  send,
  serve,
  type ServeOptions,
  type TestServer,
} from '../support/http.js'

const parser = bodyParser({ enableTypes: ['json'], extendTypes: { json: [JSON_API] } })

describe('recordRequests', () => {
  let server: TestServer
  afterEach(() => server.close())

  const start = async (routes: (router: Router) => void, options: ServeOptions = {}) => {
    server = await serve({ inside: [parser], routes, ...options })
  }
  const events = async (): Promise<readonly AuditEvent[]> =>
    (await server.audit.list({ limit: 100 })).events
  const types = async (): Promise<string[]> => (await events()).map((event) => event.type)
  const post = (path: string, attributes: object, user = 'ann') =>
    server.send(path, {
      method: 'POST',
      user,
      headers: { 'content-type': JSON_API },
      body: JSON.stringify({ data: { type: 'thing', attributes } }),
    })

  it('records a mutating request with its data before the response', async () => {
    await start((router) => {
      router.post('/api/projects/:project_code/changes', (ctx) => {
        ctx.status = 201
        ctx.body = { ok: true }
      })
    })
    await post('/api/projects/acme/changes?x=1', { action: 'deploy', password: 'hush' })
    expect(await events()).toMatchObject([
      {
        type: 'api:changes:create',
        system: true,
        username: 'ann',
        attributes: {
          request_method: 'POST',
          request_path: '/api/projects/acme/changes',
          request_body: { action: 'deploy', password: '[redacted]' },
          url_params: { project_code: 'acme' },
          response_status: 201,
        },
      },
    ])
    const byInterface =
      'filter[request_body_action_eq]=deploy&filter[url_params_project_code_eq]=acme'
    expect((await server.audit.list(byInterface)).events).toHaveLength(1)
  })

  it('names the type after the route', async () => {
    await start((router) => {
      const done = (ctx: Koa.Context) => {
        ctx.status = 204
      }
      router.post('/api/changes', done)
      router.patch('/api/changes/:change_id', done)
      router.put('/api/changes/:change_id', done)
      router.delete('/api/changes/:change_id', done)
      router.post('/api/changes/:change_id/start', done)
      router.post('/api/changes/:change_id/notes', done)
      router.post('nodes:create', '/api/projects/:project_code/environments', done)
      router.post('named', '/api/bookmarks', done)
    })
    await server.send('/api/changes', { method: 'POST' })
    await server.send('/api/changes/1', { method: 'PATCH' })
    await server.send('/api/changes/1', { method: 'PUT' })
    await server.send('/api/changes/1', { method: 'DELETE' })
    await server.send('/api/changes/1/start', { method: 'POST' })
    await server.send('/api/changes/1/notes', { method: 'POST' })
    await server.send('/api/projects/acme/environments', { method: 'POST' })
    await server.send('/api/bookmarks', { method: 'POST' })
    expect(await types()).toEqual([
      'api:changes:create',
      'api:changes:update',
      'api:changes:update',
      'api:changes:destroy',
      'api:changes:start',
      'api:notes:create',
      'api:nodes:create',
      'api:bookmarks:create',
    ])
  })

  it('records refused mutations with the reason, but not failed reads', async () => {
    await start((router) => {
      router.post('/api/changes', (ctx) => {
        ctx.status = 422
        ctx.body = { errors: [{ title: 'invalid', detail: 'name is missing' }] }
      })
      router.delete('/api/changes/:change_id', (ctx) => ctx.throw(409, 'it is running'))
      router.get('/api/changes', (ctx) => ctx.throw(404, 'no'))
    })
    await post('/api/changes', {})
    await server.send('/api/changes/7', { method: 'DELETE' })
    await server.send('/api/changes')
    await server.send('/api/nowhere', { method: 'POST' })
    expect(
      (await events()).map(({ type, attributes }) => [
        type,
        attributes['error'],
        attributes['response_status'],
      ]),
    ).toEqual([
      ['error:changes:create', 'name is missing', 422],
      ['error:changes:destroy', 'it is running', 409],
      ['error:unmatched:create', 'Not Found', 404],
    ])
  })

  it('records a refusal whose body has errors of another shape', async () => {
    await start((router) => {
      router.post('/api/changes', (ctx) => {
        ctx.status = 422
        ctx.body = { errors: { name: 'is missing' } }
      })
    })
    await post('/api/changes', {})
    expect(await events()).toMatchObject([
      { type: 'error:changes:create', attributes: { error: 'Unprocessable Entity' } },
    ])
  })

  it('records internal failures of any method with a backtrace', async () => {
    await start((router) => {
      router.get('/api/changes', () => {
        throw new TypeError('broken')
      })
      router.post('/api/changes', (ctx) => {
        ctx.status = 503
        ctx.body = 'try later'
      })
    })
    expect((await server.send('/api/changes')).status).toBe(500)
    expect((await server.send('/api/changes', { method: 'POST' })).status).toBe(503)
    const [thrown, responded] = await events()
    expect(thrown).toMatchObject({
      type: 'error:api:controller:unhandled',
      attributes: {
        request_method: 'GET',
        request_path: '/api/changes',
        error: 'broken',
        response_status: 500,
      },
    })
    expect(thrown!.attributes['backtrace']).toContain('record-requests.test')
    expect(responded).toMatchObject({
      type: 'error:api:controller:unhandled',
      attributes: { error: 'try later', response_status: 503 },
    })
  })

  it('names the type after the route when a router.use refuses the request', async () => {
    await start((router) => {
      router.use('/api', (ctx) => ctx.throw(403, 'read only'))
      router.delete('/api/changes/:change_id', () => undefined)
    })
    await server.send('/api/changes/7', { method: 'DELETE' })
    expect(await events()).toMatchObject([
      {
        type: 'error:changes:destroy',
        attributes: { error: 'read only', response_status: 403 },
      },
    ])
    expect((await events())[0]!.attributes).not.toHaveProperty('backtrace')
  })

  it('adds the data of describe, and records without it if it throws', async () => {
    let fail = false
    await start(
      (router) => {
        router.post('/api/changes', (ctx) => {
          ctx.status = 201
        })
      },
      {
        record: {
          describe() {
            if (fail) throw new Error('describe is broken')
            return { name: 'nightly', parent: { code: 'acme' }, project_path: '/projects/acme' }
          },
        },
      },
    )
    expect((await post('/api/changes', {})).status).toBe(201)
    fail = true
    expect((await post('/api/changes', {})).status).toBe(201)
    expect(await events()).toMatchObject([
      { source: '/api/projects/acme', attributes: { name: 'nightly', parent: { code: 'acme' } } },
      { type: 'api:changes:create', source: null, attributes: { response_status: 201 } },
    ])
  })

  it('records refused logins once a minute per address', async () => {
    await start(() => {})
    for (let i = 0; i < 5; i++) await server.send('/api/changes', { ...newEvent({}), user: null })
    await server.send('/api/changes', { user: null })
    expect(await events()).toMatchObject([
      {
        type: 'error:unmatched:create',
        username: null,
        attributes: { response_status: 401 },
      },
    ])
  })

  it('sends the response even if the event cannot be recorded', async () => {
    const store = memoryStore()
    await start(
      (router) => {
        router.post('/api/changes', (ctx) => {
          ctx.status = 201
          ctx.body = 'made'
        })
      },
      { store: { ...store, append: () => Promise.reject(new Error('disk full')) } },
    )
    const rejected: string[] = []
    server.audit.on('rejected', ({ type, error }) => rejected.push(`${type} ${error.code}`))
    const response = await server.send('/api/changes', { method: 'POST' })
    expect([response.status, response.body]).toEqual([201, 'made'])
    expect(rejected).toEqual(['api:changes:create STORE_FAILED'])
  })

  it('changes no byte of a response', async () => {
    const binary = createHash('sha512').update('seed').digest()
    const routes = (router: Router): void => {
      router.post('/json', (ctx) => {
        ctx.body = { a: 1, text: 'é😀' }
      })
      router.post('/text', (ctx) => {
        ctx.set('x-custom', 'Value')
        ctx.cookies.set('session', 'x')
        ctx.body = 'plain'
      })
      router.post('/binary', (ctx) => {
        ctx.type = 'application/octet-stream'
        ctx.body = binary
      })
      router.post('/stream', (ctx) => {
        ctx.body = Readable.from(['one ', 'two ', 'three'])
      })
      router.post('/late', (ctx) => {
        const stream = new PassThrough()
        ctx.body = stream
        setTimeout(() => stream.end('late'), 20)
      })
      router.post('/empty', (ctx) => {
        ctx.status = 204
      })
      router.post('/redirect', (ctx) => ctx.redirect('/json'))
      router.post('/refused', (ctx) => ctx.throw(418, 'short and stout'))
      router.post('/broken', () => {
        throw new Error('inside')
      })
    }
    await start(routes)
    const plain = await serve({ inside: [parser], routes, record: false })
    try {
      const paths = [
        '/json',
        '/text',
        '/binary',
        '/stream',
        '/late',
        '/empty',
        '/redirect',
        '/refused',
        '/broken',
        '/none',
      ]
      for (const path of paths) {
        const request = {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"a":1}',
        }
        const [recorded, reference] = [
          await server.send(path, request),
          await plain.send(path, request),
        ]
        const withoutDate = (headers: readonly string[]) =>
          headers.filter((_, i) => headers[i - (i % 2)]?.toLowerCase() !== 'date')
        expect(recorded.status, path).toBe(reference.status)
        expect(recorded.body, path).toBe(reference.body)
        expect(withoutDate(recorded.rawHeaders), path).toEqual(withoutDate(reference.rawHeaders))
      }
      expect((await events()).length).toBe(10)
      expect((await plain.audit.list()).events).toEqual([])
    } finally {
      await plain.close()
    }
  })

  it('works without a router and without a body parser', async () => {
    await start(() => {})
    const app = new Koa()
    app.use(recordRequests(server.audit))
    app.use((ctx) => {
      ctx.body = 'done'
    })
    const bare = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => bare.once('listening', resolve))
    try {
      const { port } = bare.address() as { port: number }
      await send(`http://127.0.0.1:${port}`, '/anything', { method: 'PUT', body: 'raw' })
      expect(await types()).toEqual(['api:unmatched:update'])
    } finally {
      bare.close()
    }
  })
})

import { AuditLog, type AuditLogError, defineEventTypes, type EventTypes } from 'daybook'
import { assertCoverage, type CoveredRouter, recordErrors, recordRequests } from 'daybook/express'
import { memoryStore } from 'daybook/memory'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { describe, expect, it, onTestFinished } from 'vitest'
import { send } from '../support/http.js'
import { listen } from '../support/node-server.js'

const done: RequestHandler = (_request, response) => void response.status(204).end()

async function start(
  build: (app: express.Express, audit: AuditLog) => unknown,
  types: EventTypes = {},
) {
  const audit: AuditLog = new AuditLog({ store: memoryStore(), types })
  const app = express()
  build(app.use(recordRequests(audit)), audit)
  const { url, close } = await listen(app)
  onTestFinished(async () => {
    await close()
    await audit.close()
  })
  const events = async () => (await audit.list({ limit: 100 })).events
  return {
    url,
    events,
    /** Sends the requests, `<METHOD> <path>`, and returns the events as `<type> <path>`. */
    async recorded(...requests: readonly string[]): Promise<string[]> {
      for (const request of requests) {
        const [method = '', path = ''] = request.split(' ')
        await send(url, path, { method, user: null })
      }
      return (await events()).map(
        ({ type, attributes }) => `${type} ${attributes['request_path'] as string}`,
      )
    },
  }
}

describe('the route of a request', () => {
  it('is found in nested routers, with all parameters', async () => {
    const inner = express.Router().post('/steps/:step/approve', done).delete('/', done)
    const outer = express.Router().use('/runs/:run', inner)
    const { recorded, events } = await start((app) => app.use('/api/:tenant', outer))
    expect(
      await recorded('POST /api/acme/runs/1/steps/3/approve', 'DELETE /api/acme/runs/1'),
    ).toEqual([
      'api:steps:approve /api/acme/runs/1/steps/3/approve',
      'api:runs:destroy /api/acme/runs/1',
    ])
    expect((await events())[0]!.attributes['url_params']).toEqual({
      tenant: 'acme',
      run: '1',
      step: '3',
    })
  })

  it('is found in an app that is mounted in another', async () => {
    const admin = express().post('/users/:id/lock', done)
    const outer = express().use('/admin', admin)
    const { recorded, events } = await start((app) => app.use('/:site', outer))
    expect(await recorded('POST /one/admin/users/7/lock')).toEqual([
      'api:users:lock /one/admin/users/7/lock',
    ])
    expect((await events())[0]!.attributes['url_params']).toEqual({ site: 'one', id: '7' })
  })

  it('is the one that ran last, not another match', async () => {
    const { recorded } = await start((app) =>
      app
        .post('/changes/search', done)
        .post('/changes/:id', done)
        .post('/passed/:id', (_request, _response, next) => next())
        .post('/passed/things', done)
        .get('/changes', done),
    )
    expect(
      await recorded(
        'POST /changes/search',
        'POST /changes/7',
        'POST /passed/things',
        'PUT /changes',
      ),
    ).toEqual([
      'api:search:create /changes/search',
      'api:changes:create /changes/7',
      'api:things:create /passed/things',
      'error:unmatched:update /changes',
    ])
  })

  it('is the one that would have run if middleware refuses the request', async () => {
    const refuse: RequestHandler = (_request, response) => void response.status(403).end('closed')
    const { recorded } = await start((app) =>
      app.use('/changes', refuse).delete('/changes/:id', done),
    )
    expect(await recorded('DELETE /changes/7')).toEqual(['error:changes:destroy /changes/7'])
  })

  it('may have several paths, a wildcard, optional parts or a regular expression', async () => {
    const { recorded } = await start((app) =>
      app
        .post(['/a/tea', '/b/coffee'], done)
        .post('/files/*path', done)
        .delete('/orders{/:id}', done)
        .all('/any', done)
        .post(/^\/x+$/, done),
    )
    expect(
      await recorded(
        'POST /b/coffee',
        'POST /files/a/b',
        'DELETE /orders',
        'PATCH /any',
        'POST /xx',
      ),
    ).toEqual([
      'api:coffee:create /b/coffee',
      'api:files:create /files/a/b',
      'api:orders:destroy /orders',
      'api:any:update /any',
      'api:unmatched:create /xx',
    ])
  })

  it('hides secret parameters that an error handler no longer sees', async () => {
    const { recorded } = await start((app) =>
      app.use(
        '/resets',
        express.Router().post('/:token/*secret', () => {
          throw Object.assign(new Error('expired'), { status: 410 })
        }),
      ),
    )
    expect(await recorded('POST /resets/hu%20sh/a/b?x=1')).toEqual([
      'error:resets:create /resets/[redacted]/[redacted]/[redacted]',
    ])
  })
})

describe('the error of a request', () => {
  const answer: ErrorRequestHandler = (_error, _request, response, _next) =>
    void response.status(500).end('sorry')
  const failure = new Error('no paper')

  it.each<[name: string, handler: RequestHandler]>([
    [
      'thrown',
      () => {
        throw failure
      },
    ],
    ['of a promise', () => Promise.reject(failure)],
    ['passed to next', (_request, _response, next) => next(failure)],
  ])('is recorded: %s', async (_name, handler) => {
    const { url, events } = await start((app) => app.get('/print', handler).use(answer))
    expect((await send(url, '/print', { user: null })).body).toBe('sorry')
    expect(await events()).toMatchObject([
      {
        type: 'error:api:controller:unhandled',
        attributes: {
          error: 'no paper',
          backtrace: expect.stringContaining('record-express.test') as string,
        },
      },
    ])
  })

  it('names the event if the response hides it', async () => {
    const redirect: ErrorRequestHandler = (_error, _request, response, _next) =>
      response.redirect('/sign-in')
    const { url, events } = await start((app) =>
      app
        .post('/orders', () => {
          throw Object.assign(new Error('sign in first'), { status: 401 })
        })
        .use(redirect),
    )
    expect((await send(url, '/orders', { method: 'POST', user: null })).status).toBe(302)
    expect(await events()).toMatchObject([
      {
        type: 'error:orders:create',
        attributes: { error: 'sign in first', response_status: 302 },
      },
    ])
  })

  it('is forgotten if an error handler continues the request', async () => {
    const ignore: ErrorRequestHandler = (_error, _request, _response, next) => next()
    const { recorded } = await start((app) =>
      app
        .use(() => {
          throw failure
        })
        .use(ignore)
        .post('/orders', done),
    )
    expect(await recorded('POST /orders')).toEqual(['api:orders:create /orders'])
  })

  it('may be noted by recordErrors', async () => {
    const { url, events } = await start((app) =>
      app
        .get('/print', () => {
          throw failure
        })
        .use(recordErrors as ErrorRequestHandler, answer),
    )
    await send(url, '/print', { user: null })
    expect(await events()).toMatchObject([{ attributes: { error: 'no paper' } }])
  })
})

describe('a response that waits for its event', () => {
  it('behaves as one that has ended', async () => {
    const seen: unknown[] = []
    const { url } = await start((app) =>
      app.post('/orders', (_request, response) => {
        response.on('error', (error: NodeJS.ErrnoException) => seen.push(error.code))
        response.status(201).end('made')
        seen.push(response.headersSent, response.writableEnded)
        response.statusCode = 500
        try {
          response.setHeader('x-late', '1')
        } catch (error) {
          seen.push((error as NodeJS.ErrnoException).code)
        }
        response.write('more')
        response.end('again')
      }),
    )
    const response = await send(url, '/orders', { method: 'POST', user: null })
    expect([response.status, response.body, response.headers['content-length']]).toEqual([
      201,
      'made',
      '4',
    ])
    expect(response.headers).not.toHaveProperty('x-late')
    expect(seen.slice(0, 3)).toEqual([true, true, 'ERR_HTTP_HEADERS_SENT'])
    expect(seen).toContain('ERR_STREAM_WRITE_AFTER_END')
  })
})

describe('assertCoverage', () => {
  const types = defineEventTypes({ 'api:orders:create': {}, 'api:orders:ship': {} })

  function faults(routers: CoveredRouter | readonly CoveredRouter[]): string[] {
    try {
      assertCoverage(routers, types)
    } catch (error) {
      expect((error as AuditLogError).code).toBe('NOT_COVERED')
      return ((error as AuditLogError).cause as Error).message.split('\n')
    }
    return []
  }

  it('reads the routes of apps and nested routers', () => {
    const orders = express.Router().get('/', done).post('/', done).post('/:id/ship', done)
    expect(faults(express().use(['/orders', '/shop/orders'], orders))).toEqual([])
    const admin = express().delete('/:id', done)
    const app = express().use('/orders', orders).use('/users', admin)
    expect(faults(app)).toEqual([])
    expect(faults([app, admin])).toEqual([
      'DELETE /users/:id records api:users:destroy, which is not registered',
    ])
    expect(faults(express().use(express.Router().all('/orders', done)))).toEqual([
      'PUT /orders records api:orders:update, which is not registered',
      'PATCH /orders records api:orders:update, which is not registered',
      'DELETE /orders records api:orders:destroy, which is not registered',
      'api:orders:ship is registered, but no route records it',
    ])
  })
})

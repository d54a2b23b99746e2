import { basicAuth, recordErrors, recordRequests } from 'daybook/express'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { describe, expect, it } from 'vitest'
import { send } from '../support/http.js'
import { expectTypes } from './recorded.js'
import { eventsOf, openLog, serveOn } from './until-finished.js'

const done: RequestHandler = (_request, response) => void response.status(204).end()

async function start(build: (app: express.Express) => unknown) {
  const audit = openLog()
  const app = express()
  build(app.use(recordRequests(audit)))
  const url = await serveOn(app)
  return {
    events: () => eventsOf(audit),
    send: (path: string, { method = 'GET' } = {}) => send(url, path, { method, user: null }),
  }
}

/** Expects the types of the events of requests, and returns the events. */
async function expectEvents(
  build: (app: express.Express) => unknown,
  expected: Readonly<Record<string, string | null>>,
) {
  const app = await start(build)
  await expectTypes(app, expected)
  return app.events()
}

describe('the route of a request', () => {
  it('is found in nested routers, with all parameters', async () => {
    const inner = express.Router().post('/steps/:step/approve', done).delete('/', done)
    const outer = express.Router().use('/runs/:run', inner)
    const [event] = await expectEvents((app) => app.use('/api/:tenant', outer), {
      'POST /api/acme/runs/1/steps/3/approve': 'api:steps:approve',
      'DELETE /api/acme/runs/1': 'api:runs:destroy',
    })
    expect(event!.attributes['url_params']).toEqual({ tenant: 'acme', run: '1', step: '3' })
  })

  it('is found in an app that is mounted in another', async () => {
    const admin = express().post('/users/:id/lock', done)
    const outer = express().use('/admin', admin)
    const [event] = await expectEvents((app) => app.use('/:site', outer), {
      'POST /one/admin/users/7/lock': 'api:users:lock',
    })
    expect(event!.attributes['url_params']).toEqual({ site: 'one', id: '7' })
  })

  it('is the route that ran last, not another match', async () => {
    await expectEvents(
      (app) =>
        app
          .post('/changes/search', done)
          .post('/changes/:id', done)
          .post('/passed/:id', (_request, _response, next) => next())
          .post('/passed/things', done)
          .get('/changes', done),
      {
        'POST /changes/search': 'api:search:create',
        'POST /changes/7': 'api:changes:create',
        'POST /passed/things': 'api:things:create',
        'PUT /changes': 'error:unmatched:update',
      },
    )
  })

  it('is the route that would have run, if middleware refuses the request', async () => {
    const refuse: RequestHandler = (_request, response) => void response.status(403).end('closed')
    await expectEvents((app) => app.use('/changes', refuse).delete('/changes/:id', done), {
      'DELETE /changes/7': 'error:changes:destroy',
    })
  })

  it('may have several paths, a wildcard, optional parts or a regular expression', async () => {
    await expectEvents(
      (app) =>
        app
          .post(['/a/tea', '/b/coffee'], done)
          .post('/files/*path', done)
          .delete('/orders{/:id}', done)
          .all('/any', done)
          .post(/^\/x+$/, done),
      {
        'POST /b/coffee': 'api:coffee:create',
        'POST /files/a/b': 'api:files:create',
        'DELETE /orders': 'api:orders:destroy',
        'PATCH /any': 'api:any:update',
        'POST /xx': 'api:unmatched:create',
      },
    )
  })

  it('hides secret parameters that an error handler no longer sees', async () => {
    const resets = express.Router().post('/:token/*secret', () => {
      throw Object.assign(new Error('expired'), { status: 410 })
    })
    const { send, events } = await start((app) => app.use('/resets', resets))
    await send('/resets/hu%20sh/a/b?x=1', { method: 'POST' })
    const request_path = '/resets/[redacted]/[redacted]/[redacted]'
    expect(await events()).toMatchObject([
      { type: 'error:resets:create', attributes: { request_path } },
    ])
  })
})

describe('the error of a request', () => {
  const answer: ErrorRequestHandler = (_error, _request, response, _next) =>
    void response.status(500).end('sorry')
  const failure = new Error('no paper')
  const fail = (): never => {
    throw failure
  }

  it.each<[name: string, handler: RequestHandler]>([
    ['thrown', fail],
    ['of a promise', () => Promise.reject(failure)],
    ['passed to next', (_request, _response, next) => next(failure)],
  ])('is recorded: %s', async (_name, handler) => {
    const { send, events } = await start((app) => app.get('/print', handler).use(answer))
    expect((await send('/print')).body).toBe('sorry')
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
    const { send, events } = await start((app) =>
      app
        .post('/orders', () => {
          throw Object.assign(new Error('sign in first'), { status: 401 })
        })
        .use(redirect),
    )
    expect((await send('/orders', { method: 'POST' })).status).toBe(302)
    expect(await events()).toMatchObject([
      {
        type: 'error:orders:create',
        attributes: { error: 'sign in first', response_status: 302 },
      },
    ])
  })

  it('is forgotten if an error handler continues the request', async () => {
    const ignore: ErrorRequestHandler = (_error, _request, _response, next) => next()
    await expectEvents((app) => app.use(fail).use(ignore).post('/orders', done), {
      'POST /orders': 'api:orders:create',
    })
  })

  it('may be noted by recordErrors', async () => {
    const { send, events } = await start((app) =>
      app.get('/print', fail).use(recordErrors as ErrorRequestHandler, answer),
    )
    await send('/print')
    expect(await events()).toMatchObject([{ attributes: { error: 'no paper' } }])
  })
})

describe('a response that waits for its event', () => {
  it('behaves like an ended response', async () => {
    const seen: unknown[] = []
    const { send } = await start((app) =>
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
    const response = await send('/orders', { method: 'POST' })
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

it('failures of basicAuth are counted by `request.ip` if the option address is undefined', async () => {
  const limited = { users: { ann: 'ann' }, failures: { perUser: 1 }, address: undefined as never }
  const app = express().set('trust proxy', true).use(basicAuth(limited), done)
  const url = await serveOn(app)
  const from = async (client: string, user: string): Promise<number> =>
    (await send(url, '/', { user, headers: { 'x-forwarded-for': client } })).status
  expect(await from('192.0.2.1', 'ann:wrong')).toBe(401)
  expect(await from('192.0.2.1', 'ann')).toBe(429)
  expect(await from('192.0.2.2', 'ann')).toBe(204)
})

import http from 'node:http'
import { Readable } from 'node:stream'
import { createGzip, gunzipSync } from 'node:zlib'
import type { Middleware } from 'koa'
import { describe, expect, it } from 'vitest'
import { done, nextEvent, onlyEvent, parser, type RecordedApp, useRecorded } from './recorded.js'

const { start } = useRecorded()

const API = 'api:unmatched:create'
const ERROR = 'error:unmatched:create'
const UNHANDLED = 'error:api:controller:unhandled'

const throwing =
  (thrown: unknown): Middleware =>
  () => {
    throw thrown
  }

describe('a request leaves one event', () => {
  const endings: [
    name: string,
    handler: Middleware,
    type: string,
    status: number,
    error?: string,
  ][] = [
    ['that succeeds', done, API, 204],
    ['that is redirected', (ctx) => ctx.redirect('/b'), API, 302],
    ['with a 4xx response', (ctx) => void (ctx.status = 410), ERROR, 410, 'Gone'],
    ['that throws 4xx', (ctx) => ctx.throw(410, 'it went'), ERROR, 410, 'it went'],
    ['with a 5xx response', (ctx) => void (ctx.status = 502), UNHANDLED, 502, 'Bad Gateway'],
    ['that throws 5xx', (ctx) => ctx.throw(502, 'no'), UNHANDLED, 502, 'no'],
    ['that throws an error', throwing(new TypeError('no')), UNHANDLED, 500, 'no'],
    ['that throws a text', throwing('no'), UNHANDLED, 500, 'no'],
    // Koa uses the status of errors only.
    ['that throws data', throwing({ status: 404 }), UNHANDLED, 500, '{ status: 404 }'],
    [
      'that throws ENOENT',
      throwing(Object.assign(new Error('no file'), { code: 'ENOENT' })),
      UNHANDLED,
      500,
      'no file',
    ],
    [
      'with an unknown status',
      throwing(Object.assign(new Error('no'), { status: 999 })),
      UNHANDLED,
      500,
      'no',
    ],
    ['that no handler responds to', (_ctx, next) => next(), ERROR, 404, 'Not Found'],
    [
      'that bypasses Koa',
      (ctx) => {
        ctx.respond = false
        ctx.res.writeHead(201).end('made')
      },
      API,
      201,
    ],
    [
      'that bypasses Koa after its handler has returned',
      (ctx) => {
        ctx.respond = false
        setImmediate(() => ctx.res.writeHead(409).end('late'))
      },
      ERROR,
      409,
      'Conflict',
    ],
  ]

  it.each(endings)('%s', async (_name, handler, type, status, error) => {
    const app = await start([handler])
    const recorded = nextEvent(app)
    const response = await app.send('/a', { method: 'POST' })
    expect(response.status).toBe(status)
    await recorded
    const event = await onlyEvent(app)
    expect(event).toMatchObject({ type, attributes: { response_status: status } })
    expect(event.attributes['error']).toBe(error)
    expect(event.attributes).not.toHaveProperty('aborted')
  })

  it('that throws after its response has started, with the status that was sent', async () => {
    const app = await start([
      (ctx) => {
        ctx.res.writeHead(202)
        ctx.res.write('a')
        setImmediate(() => ctx.res.destroy())
        throw new Error('halfway')
      },
    ])
    const recorded = nextEvent(app)
    await app.send('/a', { method: 'POST' }).catch(() => {})
    await recorded
    expect(await onlyEvent(app)).toMatchObject({
      type: UNHANDLED,
      attributes: { error: 'halfway', response_status: 202 },
    })
  })

  // Koa never responds if a handler throws null or undefined.
  it.each([[null], [undefined]])('that throws %s', async (thrown) => {
    const app = await start([throwing(thrown)])
    const recorded = nextEvent(app)
    const request = http.request({ port: app.port, host: '127.0.0.1', method: 'POST' }).end()
    request.on('error', () => {})
    await recorded
    request.destroy()
    expect(await onlyEvent(app)).toMatchObject({
      type: UNHANDLED,
      attributes: { error: String(thrown), response_status: 500 },
    })
  })

  it('that responds with a stream, before any of it is sent', async () => {
    const atFirstRead: number[] = []
    const app: RecordedApp = await start([
      (ctx) => {
        ctx.body = Readable.from(
          (async function* () {
            atFirstRead.push((await app.events()).length)
            yield 'one '
            yield 'two'
          })(),
        )
      },
    ])
    const response = await app.send('/a', { method: 'POST' })
    expect(response.body).toBe('one two')
    expect(atFirstRead).toEqual([1])
    expect(await onlyEvent(app)).toMatchObject({ type: API })
  })

  const handled =
    (status: number): Middleware =>
    async (ctx, next) => {
      try {
        await next()
        if (ctx.status >= 400) ctx.status = status
      } catch {
        ctx.status = status
        ctx.body = 'see the notice'
      }
    }
  const fail = throwing(new Error('the queue is full'))
  const missing: Middleware = (ctx) => void (ctx.status = 404)

  it.each<[sent: number, by: string, handler: Middleware, type: string, error: string]>([
    [503, 'a thrown error', fail, UNHANDLED, 'the queue is full'],
    [409, 'a thrown error', fail, ERROR, 'the queue is full'],
    [500, 'a thrown 4xx', (ctx) => ctx.throw(404, 'no page'), UNHANDLED, 'no page'],
    [410, 'a 4xx response', missing, ERROR, 'Not Found'],
    [503, 'a 4xx response', missing, UNHANDLED, 'Not Found'],
  ])('with the status %i that an outer handler makes of %s', async (...values) => {
    const [status, , handler, type, error] = values
    const app = await start([handler], { outside: [handled(status)] })
    expect((await app.send('/a', { method: 'POST' })).status).toBe(status)
    expect(await onlyEvent(app)).toMatchObject({
      type,
      attributes: { error, response_status: status },
    })
  })

  it('of a failure that an outer handler hides from the client', async () => {
    const redirect: Middleware = async (ctx, next) => {
      await next().catch(() => ctx.redirect('/sign-in'))
    }
    const refuse401: Middleware = (ctx) => ctx.throw(401, 'sign in first')
    const app = await start([refuse401], { outside: [redirect] })
    expect((await app.send('/a', { method: 'POST' })).status).toBe(302)
    expect(await onlyEvent(app)).toMatchObject({
      type: ERROR,
      attributes: { error: 'sign in first', response_status: 302 },
    })
  })

  it('of a failure whose client disconnects before an outer handler responds', async () => {
    const slow: Middleware = async (ctx, next) => {
      await next().catch(async () => {
        client.destroy()
        await new Promise((resolve) => ctx.res.once('close', resolve))
        ctx.status = 503
      })
    }
    const app = await start([fail], { outside: [slow] })
    const recorded = nextEvent(app)
    const client = http.request({ port: app.port, host: '127.0.0.1', method: 'POST' }).end()
    client.on('error', () => {})
    await recorded
    expect(await onlyEvent(app)).toMatchObject({
      type: UNHANDLED,
      attributes: { aborted: true, response_status: 500 },
    })
  })

  const compress: Middleware = async (ctx, next) => {
    await next()
    const gzip = createGzip()
    gzip.end(ctx.body as string)
    ctx.set('content-encoding', 'gzip')
    ctx.body = gzip
  }
  const refuse: Middleware = (ctx) => {
    ctx.status = 422
    ctx.body = '{"errors":[{"detail":"wrong"}]}'
  }

  it.each([
    ['outside', [refuse], { outside: [compress] }, 'wrong'],
    ['inside', [compress, refuse], {}, 'Unprocessable Entity'],
  ] as const)('that is compressed %s of the recording', async (_place, inside, options, error) => {
    const app = await start(inside, options)
    const { bytes, headers } = await app.send('/a', { method: 'POST' })
    expect(headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(bytes).toString()).toBe('{"errors":[{"detail":"wrong"}]}')
    expect(await onlyEvent(app)).toMatchObject({ type: ERROR, attributes: { error } })
  })

  it.each([
    ['is not JSON', '{"a":', 400],
    ['is too large', JSON.stringify('x'.repeat(1_200_000)), 413],
  ])('whose body %s', async (_name, body, status) => {
    const app = await start([parser as Middleware, done])
    const response = await app.send('/a', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(status)
    expect(await onlyEvent(app)).toMatchObject({
      type: ERROR,
      attributes: { response_status: status },
    })
    expect((await onlyEvent(app)).attributes).not.toHaveProperty('request_body')
  })
})

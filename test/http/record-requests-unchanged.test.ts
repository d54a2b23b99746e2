import { createHash } from 'node:crypto'
import { PassThrough, Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Middleware } from 'koa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLOSE, rawRequest, responsesTo } from './raw.js'
import { parser, type RecordedApp, startRecorded } from './recorded.js'

const BYTES = createHash('sha512').update('seed').digest()

const handlers: Readonly<Record<string, Middleware>> = {
  json(ctx) {
    ctx.body = { a: 1, text: 'é😀' }
  },
  text(ctx) {
    ctx.set('X-Custom', 'Value')
    ctx.cookies.set('session', 'x')
    ctx.body = 'plain'
  },
  bytes(ctx) {
    ctx.type = 'application/octet-stream'
    ctx.body = BYTES
  },
  stream(ctx) {
    ctx.body = Readable.from(['one ', 'two ', 'three'])
  },
  late(ctx) {
    const stream = new PassThrough()
    ctx.body = stream
    setTimeout(() => stream.end('late'), 10)
  },
  gzip(ctx) {
    const gzip = createGzip()
    gzip.end('x'.repeat(10_000))
    ctx.set('Content-Encoding', 'gzip')
    ctx.body = gzip
  },
  empty(ctx) {
    ctx.status = 204
  },
  unchanged(ctx) {
    ctx.set('ETag', '"1"')
    ctx.status = 304
  },
  none(ctx) {
    ctx.status = 200
    ctx.body = null
  },
  echo(ctx) {
    ctx.body = ctx.req
  },
  parsed: (ctx, next) =>
    (parser as Middleware)(ctx, async () => {
      ctx.body = ctx.request.body
      await next()
    }),
  range(ctx) {
    ctx.status = 206
    ctx.set('Content-Range', 'bytes 10-19/64')
    ctx.body = BYTES.subarray(10, 20)
  },
  trailers(ctx) {
    ctx.respond = false
    ctx.res.writeHead(200, { Trailer: 'Digest' })
    ctx.res.write('body')
    ctx.res.addTrailers({ Digest: 'abc' })
    ctx.res.end()
  },
  hints(ctx) {
    ctx.res.writeEarlyHints({ link: '</style.css>; rel=preload' })
    ctx.body = 'after the hints'
  },
  raw(ctx) {
    ctx.respond = false
    setImmediate(() => ctx.res.writeHead(299, 'Fine', [['A', '1']].flat()).end('raw'))
  },
  redirect: (ctx) => ctx.redirect('/json'),
  refused: (ctx) => ctx.throw(418, 'short and stout', { headers: { 'X-Tea': 'yes' } }),
  broken() {
    throw new Error('inside')
  },
  text_thrown() {
    // oxlint-disable-next-line no-throw-literal, only-throw-error
    throw 'a text'
  },
  flushed(ctx) {
    ctx.status = 202
    ctx.body = 'flushed'
    ctx.flushHeaders()
  },
}

const dispatch: Middleware = (ctx, next) => handlers[ctx.path.slice(1)]?.(ctx, next) ?? next()

const JSON_BODY = '{"password":"p","list":[1,2]}'
const WITH_JSON = `Content-Type: application/json\r\nContent-Length: ${JSON_BODY.length}\r\n`
const CHUNKS = '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n'

const exchanges: readonly (readonly [name: string, sent: string])[] = [
  ...Object.keys(handlers).flatMap((name) =>
    ['POST', 'GET', 'HEAD', 'DELETE'].map(
      (method) => [`${method} ${name}`, rawRequest(`${method} /${name}`, CLOSE)] as const,
    ),
  ),
  ['POST nowhere', rawRequest('POST /nowhere', CLOSE)],
  ['OPTIONS json', rawRequest('OPTIONS /json', CLOSE)],
  ['JSON that is read', rawRequest('PUT /parsed', CLOSE + WITH_JSON, JSON_BODY)],
  ['JSON that is not', rawRequest('PUT /json', CLOSE + WITH_JSON, JSON_BODY)],
  ['JSON that is wrong', rawRequest('PUT /parsed', CLOSE + WITH_JSON, JSON_BODY.replace('}', '!'))],
  ['a body in chunks', rawRequest('POST /echo', `${CLOSE}Transfer-Encoding: chunked\r\n`, CHUNKS)],
  [
    'a body that waits for 100-continue',
    rawRequest('POST /echo', `${CLOSE}Expect: 100-continue\r\nContent-Length: 2\r\n`, 'ab'),
  ],
  ['HTTP/1.0', 'POST /stream HTTP/1.0\r\n\r\n'],
  [
    'pipelined requests',
    ['json', 'stream', 'refused', 'empty', 'broken']
      .map((name) => rawRequest(`POST /${name}`))
      .join('') + rawRequest('POST /gzip', CLOSE),
  ],
]

describe('recordRequests does not change', () => {
  let recorded: RecordedApp
  let plain: RecordedApp
  beforeAll(async () => {
    recorded = await startRecorded([dispatch], { record: { username: () => 'ann' } })
    plain = await startRecorded([dispatch], { record: false })
  })
  afterAll(() => Promise.all([recorded.close(), plain.close()]))

  it.each(exchanges)('the response to %s', async (_name, sent) => {
    const responses = await responsesTo(recorded.port, sent)
    expect(responses).toBe(await responsesTo(plain.port, sent))
    expect(responses).toMatch(/^HTTP\/1\.1 \d{3} /)
  })

  it('the errors that Koa emits', () => {
    const messages = ({ errors }: RecordedApp) => errors.map((error) => (error as Error).message)
    expect(messages(recorded)).toEqual(messages(plain))
    expect(recorded.errors.length).toBeGreaterThan(3)
  })

  it('anything, but does record', async () => {
    const sent = exchanges.flatMap(([, sent]) => [...sent.matchAll(/^(?:POST|PUT|DELETE) /gm)])
    const methods = (await recorded.events()).map(({ attributes }) => attributes['request_method'])
    expect(methods.filter((method) => method !== 'GET' && method !== 'HEAD')).toHaveLength(
      sent.length,
    )
    expect(await plain.events()).toEqual([])
  })
})

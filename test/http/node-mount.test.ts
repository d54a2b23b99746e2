import type http from 'node:http'
import { gzipSync } from 'node:zlib'
import type { AuditEvent } from 'daybook'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  checkAnswers,
  JSON_API,
  newEvent,
  type RawRequest,
  type RawResponse,
  send,
} from '../support/http.js'
import { type Host, hosts, listen, repeatableLog } from '../support/node-server.js'
import { openStream } from '../support/server-sent.js'

const PATH = '/api/events'

const idOf = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`

const EVENTS: readonly AuditEvent[] = Array.from({ length: 9 }, (_, n) => ({
  id: idOf(n),
  created_at: `2026-01-01T00:00:0${n}.000000Z`,
  username: n % 2 === 0 ? 'ann' : null,
  system: n % 3 === 0,
  type: `note:${n}`,
  source: n === 4 ? '/api/projects/acme' : null,
  attributes: { n, text: 'ä'.repeat(200), ...(n === 4 && { project_path: '/projects/acme' }) },
}))

const post = (body: string | Uint8Array, headers: http.OutgoingHttpHeaders = {}): RawRequest => ({
  method: 'POST',
  headers: { 'content-type': JSON_API, ...headers },
  body,
})
const text = JSON.stringify({ data: { type: 'Event', attributes: { type: 'x', text: 'é' } } })
const tooLong = newEvent({ type: 'x', text: 'x'.repeat(3000) })
const chunked = { 'transfer-encoding': 'chunked' }

/** Requests whose responses must be the same on every host. The order of the POSTs matters. */
const TABLE: readonly (readonly [status: number, path: string, request?: RawRequest])[] = [
  [200, ''],
  [206, '?limit=2'],
  [200, '?filter[text_start]=%C3%A4&filter[sorts][]=n+desc'],
  [200, '?filter[n_in][]=1&filter[n_in][]=2&fields[event]=n'],
  [200, '/'],
  [200, '', { method: 'HEAD' }],
  [200, '', { headers: { 'accept-encoding': 'gzip' } }],
  [304, '', { headers: { 'if-none-match': '*' } }],
  [304, '', { method: 'HEAD', headers: { 'if-none-match': '*' } }],
  [400, '?filter[n_equals]=1'],
  [400, '?filter[n_eq=1'],
  [400, '?limit=1&page[size]=2'],
  [406, '', { headers: { accept: 'text/html' } }],
  [401, '', { user: null }],
  [401, '', { user: 'ann:wrong' }],
  [401, '', { user: 'ann:wrong', method: 'HEAD' }],
  [405, '', { method: 'DELETE' }],
  [405, `/${idOf(1)}`, { method: 'PATCH', body: 'what is sent does not matter' }],
  [200, `/${idOf(4)}`],
  [200, `/${idOf(4)}`, { method: 'HEAD' }],
  [404, '/none'],
  [404, '/none', { method: 'HEAD' }],
  [404, '/a/b'],
  [200, '/openapi.json'],
  [200, '/stream', { method: 'HEAD' }],
  [400, '/stream?filter[sorts]=n'],
  [200, '/counts?facets=type&attributes=true&zone=Asia/Tokyo'],
  [200, '/counts', { method: 'HEAD' }],
  [400, '/counts?limit=1'],
  [200, '/export?filter[n_gt]=3'],
  [200, '/export?format=csv&fields[event]=n'],
  [200, '/export', { method: 'HEAD' }],
  [406, '/export', { headers: { accept: 'text/html' } }],
  [200, '/report?filter[n_gt]=3'],
  [400, '/report?limit=3'],
  [200, '/types'],
  [200, '/me'],
  [200, '/me', { user: 'bob' }],
  [405, '/me', { method: 'DELETE' }],
  [403, '', { ...post(text), user: 'bob' }],
  [415, '', post(text, { 'content-type': 'application/json' })],
  [415, '', post(gzipSync(text), { 'content-encoding': 'gzip' })],
  [400, '', post('[]')],
  [409, '', post(JSON.stringify({ data: { type: 'other' } }))],
  [422, '', newEvent({ type: 'x', id: 'mine' })],
  [413, '', tooLong],
  [413, '', { ...tooLong, headers: { ...tooLong.headers, ...chunked } }],
  [201, '', post(text)],
  [201, '', post(text, chunked)],
  [201, '', post(text, { expect: '100-continue' })],
  [201, '', post(text, { 'idempotency-key': '"one"' })],
  [201, '', post(text, { 'idempotency-key': '"one"' })],
]

interface Answered {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** The response without headers of the server, the date, and the mount prefix. */
function comparable({ status, headers, bytes }: RawResponse, { prefix }: Host): Answered {
  const { date: _date, 'x-powered-by': _server, etag, 'content-length': length, ...rest } = headers
  const bare = (text: string): string =>
    text
      .replaceAll(`${prefix}${PATH}`, PATH)
      .replace(/"took_ms":[\d.]+/, '"took_ms":0')
      .replace(/events-[-\dT]+Z/, 'events-now')
  return {
    status,
    headers: {
      ...(JSON.parse(bare(JSON.stringify(rest))) as object),
      // The entity tag of a document depends on the paths in it.
      etag: etag?.length,
      length: bytes.length === 0 ? typeof length : Number(length) === bytes.length,
    },
    body: rest['content-encoding'] === undefined ? bare(Buffer.from(bytes).toString()) : '',
  }
}

async function responsesOf(host: Host): Promise<Answered[]> {
  const audit = repeatableLog()
  await audit.importEvents(EVENTS)
  const { url, close } = await listen(host.listener(audit))
  // The other hosts have the same responses.
  const endChecks = host === hosts['Koa'] ? checkAnswers(url, audit, PATH) : () => {}
  try {
    const responses: Answered[] = []
    for (const [, path, request] of TABLE)
      responses.push(comparable(await send(url, host.prefix + PATH + path, request), host))
    return responses
  } finally {
    endChecks()
    await close()
    await audit.close()
  }
}

describe('a feed', () => {
  let expected: Answered[]
  beforeAll(async () => {
    expected = await responsesOf(hosts['Koa']!)
  })

  it('gives the expected responses', () => {
    expect(expected.map(({ status }) => status)).toEqual(TABLE.map(([status]) => status))
    // The repeated key created no second event.
    const created = expected.filter(({ status }) => status === 201)
    expect(new Set(created.map(({ headers }) => headers['location'])).size).toBe(4)
  })

  it('no response may be sniffed or embedded, and only documents may be cached, with revalidation', () => {
    for (const [i, { status, headers }] of expected.entries()) {
      const [, path] = TABLE[i]!
      const isDocument = [200, 206, 304].includes(status) && !/^.(?:export|stream)/.test(path)
      const caching =
        path.startsWith('/stream') && status === 200 ? 'no-store, no-transform' : 'no-store'
      expect(headers, `${status} ${path}`).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': isDocument ? 'private, no-cache' : caching,
      })
    }
  })

  it.each(Object.entries(hosts).slice(1))('is the same with %s', async (_, host) => {
    const responses = await responsesOf(host)
    for (const [i, response] of responses.entries()) {
      const [status, path] = TABLE[i]!
      expect(response, `${status} ${path}`).toEqual(expected[i])
    }
  })

  it.each(Object.entries(hosts))('streams with %s', async (_, host) => {
    const audit = repeatableLog()
    const { url, close } = await listen(host.listener(audit))
    const stream = await openStream(`${url}${host.prefix}${PATH}/stream?filter[n_gt]=0`)
    expect([stream.status, stream.headers['content-type']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ])
    for (const n of [0, 1, 2]) await audit.recordCustom('note', { n })
    const sent = await stream.take(2)
    expect(sent.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
      { data: { attributes: { n: 1 }, links: { self: expect.stringContaining(host.prefix) } } },
      { data: { attributes: { n: 2 } } },
    ])
    await audit.close()
    expect(await stream.ended).toBe('ended')
    await close()
  })
})

import { getRequestListener } from '@hono/node-server'
import * as forHono from 'daybook/hono'
import type { AuditRoutesOptions, EventsRead } from 'daybook/koa'
import express from 'express'
import { Hono, type MiddlewareHandler } from 'hono'
import { describe, expect, it } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { expressAfter, frameworks } from '../support/frameworks.js'
import { errorOf, type RawRequest, type RawResponse, send } from '../support/http.js'
import { own, PATH, startFeed, textsOf } from './access.js'
import { inFull } from './counts.js'
import { checkAnswers, serve as serveLogs } from './served-logs.js'
import { eventsOf, openLog, serveOn } from './until-finished.js'

/* Queries in the body of a request. */

const FORM = 'application/x-www-form-urlencoded'
const SEARCH = `${PATH}/search`

const form = (body: string | Uint8Array, headers: RawRequest['headers'] = {}): RawRequest => ({
  method: 'POST',
  headers: { 'content-type': FORM, ...headers },
  body,
})

/** A list of names that makes a query of this length. */
function namesOf(length: number, start = 'filter[text_in][]=a'): string {
  const parts = [start]
  let size = start.length
  for (let n = 0; size < length; n++) {
    const part = `filter[text_in][]=${String(n).padStart(400, 'x')}`
    const rest = length - size - 1
    parts.push(rest < 2 * part.length ? `filter[text_in][]=${'y'.repeat(rest - 18)}` : part)
    size += parts.at(-1)!.length + 1
  }
  return parts.join('&')
}

const LONG = namesOf(60_000)

/** A feed with three events. Their texts are a, b and a. */
async function started(feed: AuditRoutesOptions = {}) {
  const server = inFull(await startFeed(feed))
  for (const text of ['a', 'b', 'a']) await server.record('ann', { text })
  return server
}

interface Linked {
  readonly links: Readonly<
    Record<string, { readonly href: string; readonly meta: { method: string; body: string } }>
  >
  readonly meta: { readonly total: number }
}

const documentOf = ({ body }: RawResponse): Linked => JSON.parse(body) as Linked

it('lists and counts by a query that is too long for a URL', async () => {
  const server = await started()
  // Node refuses this request before the endpoints get it.
  const headers = { authorization: `Basic ${btoa('ann:ann')}` }
  expect((await fetch(`${server.url}${PATH}?${LONG}`, { headers })).status).toBe(431)
  const listed = await server.send(SEARCH, form(LONG))
  expect([listed.status, textsOf(listed)]).toEqual([200, ['a', 'a']])
  const counted = await server.send(`${PATH}/counts`, form(`${LONG}&buckets=0&facets[]=type`))
  expect(documentOf(counted).meta).toMatchObject({
    total: 2,
    facets: { type: { values: [{ value: 'note', count: 2 }] } },
  })
})

it('answers as to the same query in a URL, but for the links', async () => {
  const server = await started()
  for (const query of [
    '',
    'limit=1&fields[event]=text',
    'filter[text_eq]=b',
    'filter%5Btext_in%5D%5B%5D=a&filter[sorts]=nope',
  ])
    for (const [get, post] of [
      ['', '/search'],
      ['/counts', '/counts'],
    ] as const) {
      const charset = `${FORM}; charset=UTF-8`
      // Buckets of time end with the present.
      const asked = get === '' ? query : ['buckets=0', query].filter(Boolean).join('&')
      const one = await server.send(PATH + get + (asked && `?${asked}`))
      const other = await server.send(PATH + post, form(asked, { 'content-type': charset }))
      const { links: _one, meta: { took_ms: _some, ...meta } = {}, ...rest } = JSON.parse(one.body)
      const {
        links: _other,
        meta: { took_ms: _, ...others } = {},
        ...same
      } = JSON.parse(other.body)
      expect([other.status, others, same]).toEqual([one.status, meta, rest])
      expect(other.headers['cache-control']).toBe(one.headers['cache-control'])
    }
})

it('links lead to the same list and to older events', async () => {
  const server = await started()
  let sent = `${LONG}&limit=1`
  const seen: unknown[] = []
  for (let page = 0; page < 2; page++) {
    const response = await server.send(SEARCH, form(sent))
    const { self, prev } = documentOf(response).links
    expect(self).toEqual({ href: SEARCH, meta: { method: 'POST', body: sent } })
    expect(textsOf(await server.send(self!.href, form(self!.meta.body)))).toEqual(['a'])
    seen.push([response.status, textsOf(response), prev?.href])
    sent = prev?.meta.body ?? ''
  }
  expect(seen).toEqual([
    [206, ['a'], SEARCH],
    [200, ['a'], undefined],
  ])
  const counted = documentOf(await server.send(`${PATH}/counts?buckets=0`, form('q=a')))
  expect(counted.links['self']).toEqual({
    href: `${PATH}/counts`,
    meta: { method: 'POST', body: 'buckets=0&q=a' },
  })
})

it('a link that would be longer than a body may be is left out', async () => {
  const server = await started()
  const full = await server.send(SEARCH, form(namesOf(65_536, 'limit=1&filter[text_in][]=a')))
  expect([full.status, Object.keys(documentOf(full).links)]).toEqual([206, ['self']])
})

it.each([
  ['a byte too many', form(namesOf(65_537)), 400, 'QUERY_TOO_LARGE'],
  ['bytes that are not UTF-8', form(Buffer.from([0x71, 0x3d, 0xff])), 400, 'MALFORMED_PARAMETER'],
  ['an unknown parameter', form('limt=5'), 400, 'UNKNOWN_PARAMETER'],
  ['an invalid condition', form('filter[type_equals]=x'), 400, 'UNKNOWN_PREDICATE'],
  ['no media type', form('q=a', { 'content-type': '' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['JSON', form('{}', { 'content-type': 'application/json' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  [
    'another charset',
    form('q=a', { 'content-type': `${FORM}; charset=latin1` }),
    415,
    'UNSUPPORTED_MEDIA_TYPE',
  ],
  ['a compressed body', form('q=a', { 'content-encoding': 'gzip' }), 415, 'UNSUPPORTED_MEDIA_TYPE'],
  ['a request to wait', form('q=a', { prefer: 'wait=5' }), 400, 'INVALID_HEADER'],
  ['no user', { ...form('q=a'), user: null }, 401, 'UNAUTHENTICATED'],
] as const)('%s is refused', async (_what, request, status, code) => {
  const server = await started()
  for (const path of [SEARCH, `${PATH}/counts`])
    expectError(await server.send(path, request), status, code)
})

it('a query in a body is not followed, and creates nothing', async () => {
  const server = await started()
  const followed = await server.send(`${PATH}/stream`, form('q=a'))
  expectError(followed, 405, 'METHOD_NOT_ALLOWED')
  expect(errorOf(followed).detail).toContain('is not followed')
  expectError(await server.send(PATH, form('type=x')), 415, 'UNSUPPORTED_MEDIA_TYPE')
  expectError(await server.send(SEARCH), 405, 'METHOD_NOT_ALLOWED')
  expect(await eventsOf(server.audit)).toHaveLength(3)
})

it('the host decides about the right, restricts the events and gets the events that are read', async () => {
  const reads: EventsRead[] = []
  const asked: unknown[] = []
  const server = await started({
    visible: own,
    authorize: (ctx, action) => {
      asked.push(action)
      return ctx.state['username'] !== 'eve'
    },
    onRead: (_ctx, read) => void reads.push(read),
  })
  await server.record('bob', { text: 'a' })
  expect(textsOf(await server.send(SEARCH, { ...form('filter[text_eq]=a'), user: 'bob' }))).toEqual(
    ['a'],
  )
  const counted = await server.send(`${PATH}/counts`, { ...form('buckets=0'), user: 'bob' })
  expect(documentOf(counted).meta.total).toBe(1)
  const read = { username: 'bob', events: expect.anything() as unknown }
  expect(reads).toEqual([
    { ...read, action: 'list', query: 'filter[text_eq]=a' },
    { ...read, action: 'count', query: 'buckets=0' },
  ])
  for (const path of [SEARCH, `${PATH}/counts`])
    expectError(await server.send(path, { ...form('q=a'), user: 'eve' }), 403, 'FORBIDDEN')
  expect(asked).toEqual(['list', 'count', 'list', 'count'])
})

it('answers are compressed and never 304', async () => {
  const server = await started()
  const plain = await server.send(SEARCH, form(LONG))
  const headers = { 'if-none-match': plain.headers.etag!, 'accept-encoding': 'gzip' }
  const again = await server.send(SEARCH, form(LONG, headers))
  expect([again.status, again.headers['content-encoding']]).toEqual([200, 'gzip'])
})

/** Conditions that body parsers read in different ways. */
const QUERY =
  'filter[g][0][m]=or&filter[g][0][text_eq]=a%26+b&filter[g][0][n_gt]=2&filter[text_in][]=a%26+b&' +
  'filter[text_in][]=%C3%A4&filter[n_not_in][]=7&q=note&q=-x&fields[event]=text'

describe.each([
  ...Object.entries(frameworks),
  ['Express after a parser of nested names', expressAfter(express.urlencoded({ extended: true }))],
  ['Express after a parser of plain names', expressAfter(express.urlencoded({ extended: false }))],
] as const)('on %s', (_name, framework) => {
  it.each([[false], [true]])('a search is not recorded (required: %s)', async (required) => {
    const audit = openLog()
    const url = await serveOn(
      framework({
        record: [audit, { required }],
        mounts: [['auditRoutes', audit, { username: () => 'ann' }]],
      }),
    )
    for (const [n, text] of ['a& b', 'ä', 'ä', 'c'].entries())
      await audit.recordCustom('note', { text, n })
    const listed = await send(url, SEARCH, form(QUERY))
    expect([listed.status, textsOf(listed)]).toEqual([200, ['a& b']])
    const long = await send(url, `${PATH}/counts`, form(LONG))
    expect([long.status, documentOf(long).meta.total]).toEqual([200, 0])
    expect((await send(url, SEARCH, form('limit=0'))).status).toBe(400)
    expect(await eventsOf(audit)).toHaveLength(4)
  })
})

it('Hono reads a form again that middleware has read', async () => {
  const audit = openLog()
  await audit.recordCustom('note', { text: 'a' })
  const read = { formData: 0, parseBody: 0, text: 0 }
  for (const method of Object.keys(read) as (keyof typeof read)[]) {
    const app = new Hono()
      .use(async ({ req }, next) => {
        await req[method]()
        read[method]++
        await next()
      })
      .use(forHono.auditRoutes(audit, { username: () => 'ann' }) as MiddlewareHandler)
    const url = await serveOn(getRequestListener(app.fetch, { overrideGlobalObjects: false }))
    const listed = await send(url, SEARCH, form('filter[text_eq]=a&limit=1&q=-x+-y'))
    expect([listed.status, textsOf(listed)]).toEqual([200, ['a']])
  }
  expect(read).toEqual({ formData: 1, parseBody: 1, text: 1 })
})

it('the endpoints of several logs and of one of many accept a query in the body', async () => {
  const { logs, url, get } = await serveLogs()
  await checkAnswers(url)
  for (const key of ['a', 'b', 'a', 'b']) await logs.log(key).recordCustom('note', { text: 'a' })
  const body = `${LONG}&limit=3`
  const expected = ['a', 'a', 'a']
  for (const [path, text] of [
    ['/events/search', `logs[]=a&logs[]=b&${body}`],
    ['/events/search?logs[]=a&logs[]=b', body],
    ['/a,b/events/search', body],
  ] as const) {
    const listed = await get(path, form(text))
    expect([listed.status, textsOf(listed)]).toEqual([206, expected])
    const { self, prev } = documentOf(listed).links
    expect(self!.meta.body).toBe(`logs[]=a&logs[]=b&${body}`)
    const older = await send(url, prev!.href, form(prev!.meta.body))
    expect([older.status, textsOf(older)]).toEqual([200, ['a']])
  }
  expect(textsOf(await get('/a/events/search', form(LONG)))).toEqual(['a', 'a'])
  for (const [path, total] of [
    ['/events/counts?logs=a&logs=b', 4],
    ['/a,b/events/counts', 4],
    ['/b/events/counts', 2],
  ] as const)
    expect(documentOf(await get(path, form(LONG))).meta.total).toBe(total)
  expectError(await get('/events/search', form(LONG)), 400, 'INVALID_VALUE')
  expectError(await get('/events/stream', form(LONG)), 405, 'METHOD_NOT_ALLOWED')
})

it('the same query in a URL and in a body, sent at once, gets the links of each', async () => {
  const audit = openLog()
  const url = await serveOn(
    frameworks['node:http']!({ mounts: [['auditRoutes', audit, { username: () => 'ann' }]] }),
  )
  const both = await Promise.all([send(url, `${PATH}?q=a`), send(url, SEARCH, form('q=a'))])
  expect(both.map((response) => typeof documentOf(response).links['self'])).toEqual([
    'string',
    'object',
  ])
})

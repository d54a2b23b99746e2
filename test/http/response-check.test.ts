import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkAnswers, JSON_API, serve, type TestServer } from '../support/http.js'
import { answerCheck, type Answered } from '../support/openapi.js'

let server: TestServer

beforeAll(async () => {
  server = await serve()
})
afterAll(() => server.close())

const resource = {
  type: 'event',
  id: '0196b3c2-0000-7000-8000-00000000000a',
  attributes: {
    type: 'own',
    username: null,
    system: true,
    created_at: '2026-11-01T00:00:00.000001Z',
  },
  links: { self: '/api/events/x' },
}
const list = {
  jsonapi: { version: '1.1' },
  data: [resource],
  links: { self: '/api/events?filter[a_eq]=b' },
}
const error = { status: '400', code: 'INVALID_VALUE', title: 'wrong', detail: 'wrong' }
const failure = { jsonapi: { version: '1.1' }, errors: [error] }
const variants = { etag: 'W/"x"', vary: 'Accept', 'cache-control': 'private, no-cache' }

interface Change extends Partial<Omit<Answered, 'bytes'>> {
  readonly body?: unknown
}

const answered = ({ body = list, ...change }: Change): Answered => ({
  method: 'GET',
  target: '/api/events?limit=1',
  status: 200,
  headers: { 'content-type': JSON_API, ...variants },
  bytes: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  ...change,
})

const line = {
  id: resource.id,
  ...resource.attributes,
  source: null,
  attributes: { n: 1 },
}
const file = {
  'content-disposition': 'attachment; filename="events.ndjson"',
  'cache-control': 'no-store',
  vary: 'Accept',
  'x-export-until': '2026-11-22T16:09:30.280404Z',
}
const exported = (body: string, type = 'application/x-ndjson'): Change => ({
  target: '/api/events/export',
  headers: { 'content-type': type, ...file },
  body,
})

const withResource = (more: object): Change => ({
  body: { ...list, data: [{ ...resource, ...more }] },
})
const withAttributes = (more: object): Change =>
  withResource({ attributes: { ...resource.attributes, ...more } })
const withError = (more: object): Change => ({
  status: 400,
  body: { ...failure, errors: [{ ...error, ...more }] },
})

const check = (change: Change): void => answerCheck(server.audit, '/api/events')(answered(change))

it.each<[string, Change]>([
  ['a list', {}],
  [
    'a cut list',
    { status: 206, body: { ...list, links: { ...list.links, prev: '/api/events?a=b' } } },
  ],
  ['any attributes', withAttributes({ 'a b/c': 1, source: 'x', links: {} })],
  ['a fieldset', withResource({ attributes: {} })],
  ['a source', withResource({ relationships: { source: { links: { source: '/api/x' } } } })],
  ['an error', withError({ source: { header: 'accept' } })],
  ['a 304', { status: 304, headers: variants, body: '' }],
  ['a HEAD', { method: 'HEAD', body: '' }],
  ['lines', exported(`${JSON.stringify(line)}\n${JSON.stringify(line)}\n`)],
  ['no lines', exported('')],
  ['a text with a character set', exported('a,b\r\n', 'text/csv; charset=utf-8')],
  ['another path', { target: '/api/eventsx', status: 418 }],
  ["the host's own failure", { status: 500, headers: {}, body: 'Internal Server Error' }],
])('accepts %s', (_what, change) => {
  expect(() => check(change)).not.toThrow()
})

it.each<[string, Change]>([
  ['an undeclared status', { status: 418 }],
  ['an undeclared method with a response', { method: 'PUT' }],
  ['an undeclared path with a response', { target: '/api/events/a/b' }],
  [
    'a 405 without Allow',
    { ...withError({ status: '405', code: 'METHOD_NOT_ALLOWED' }), method: 'PUT', status: 405 },
  ],
  ['a missing header', { headers: { 'content-type': JSON_API } }],
  ['another content type', { headers: { 'content-type': 'application/json', ...variants } }],
  [
    'a content type with a parameter',
    { headers: { 'content-type': `${JSON_API}; charset=utf-8`, ...variants } },
  ],
  ['a body of HEAD', { method: 'HEAD' }],
  ['a body of 304', { status: 304, headers: variants }],
  ['a body that is not JSON', { body: '{' }],
  ['a document without data', { body: { ...list, data: undefined } }],
  ['a document without links', { body: { ...list, links: undefined } }],
  ['another top-level member', { body: { ...list, events: [] } }],
  ['data and errors', { body: { ...list, errors: [] } }],
  ['one event for a list', { body: { ...list, data: resource } }],
  ['another member of a resource', withResource({ source: 'x' })],
  ['another type', withResource({ type: 'Event' })],
  ['an id of a wrong type', withResource({ id: 7 })],
  ['an attribute id', withAttributes({ id: 'x' })],
  ['a time without microseconds', withAttributes({ created_at: '2026-11-01T00:00:00Z' })],
  ['another relationship', withResource({ relationships: { other: { links: { self: '/x' } } } })],
  ['an empty relationship', withResource({ relationships: { source: {} } })],
  ['a link that is not a URI reference', withResource({ links: { self: 'a b' } })],
  ['a line that is not an event', exported(`${JSON.stringify({ ...line, source: 1 })}\n`)],
  ['a line that does not end', exported(JSON.stringify(line))],
  ['lines of another type', exported('', 'application/json')],
  ['no error', { status: 400, body: { ...failure, errors: [] } }],
  ['an error of another status', withError({ status: '404' })],
  ['an unknown code', withError({ code: 'WRONG' })],
  ['a code of another status', withError({ code: 'NOT_FOUND' })],
  ['a number for a status', withError({ status: 400 })],
  ['another source', withError({ source: { body: 'x' } })],
])('rejects %s', (_what, change) => {
  expect(() => check(change)).toThrow(/^[A-Z]+ \/api\/events/)
})

it('checks every response that a test receives', async () => {
  const endChecks = checkAnswers(server.url, server.audit, '/api')
  await expect(server.send('/api/projects')).rejects.toThrow('GET /api/projects -> 404')
  endChecks()
  expect((await server.send('/api/projects')).status).toBe(404)
  checkAnswers(server.url, server.audit)
})

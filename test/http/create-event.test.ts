import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  errorOf,
  JSON_API,
  newEvent,
  type RawRequest,
  serve,
  type TestServer,
} from '../support/http.js'

const UUID = '0196b3c2-1111-4222-8333-444455556666'

describe('POST /api/events', () => {
  let server: TestServer

  beforeEach(async () => {
    server = await serve()
  })
  afterEach(() => server.close())

  const post = (request: RawRequest) => server.send('/api/events', request)
  const stored = async () => (await server.audit.list()).events

  it('creates a custom event: 201, no body, its address', async () => {
    const attributes = {
      type: 'deploy:note',
      text: 'hello',
      nested: { list: [1, { deep: null }], flag: true },
    }
    const response = await post({ ...newEvent(attributes), user: 'bob' })
    expect([response.status, response.body]).toEqual([201, ''])
    expect(response.headers['content-type']).toBeUndefined()
    const [event] = await stored()
    expect(response.headers.location).toBe(`/api/events/${event!.id}`)
    expect(event).toMatchObject({
      type: 'deploy:note',
      system: false,
      username: 'bob',
      source: null,
      attributes: { text: 'hello', nested: { list: [1, { deep: null }], flag: true } },
    })
  })

  it.each([
    [{ project_path: '/projects/acme' }, '/api/projects/acme'],
    [
      { node_path: '/projects/a/environments/b/assets/c' },
      '/api/projects/a/environments/b/assets/c',
    ],
    [{ change_id: UUID, project_id: UUID }, `/api/changes/${UUID}`],
  ])('links %j', async (link, source) => {
    expect((await post(newEvent({ type: 'linked:to:project:x', ...link }))).status).toBe(201)
    const [event] = await stored()
    expect(event!.source).toBe(source)
    expect(event!.attributes).toEqual(link)
  })

  it('takes the resource type event, members beside data, and charset=utf-8', async () => {
    const body = JSON.stringify({
      data: { type: 'event', attributes: { type: 'x' }, meta: { a: 1 } },
      meta: {},
      included: [],
    })
    const headers = { 'content-type': `${JSON_API}; charset=UTF-8` }
    expect((await post({ method: 'POST', headers, body })).status).toBe(201)
  })

  const raw = (body: string | Uint8Array, contentType = JSON_API): RawRequest => ({
    method: 'POST',
    headers: { 'content-type': contentType },
    body,
  })
  const deep = (levels: number): unknown =>
    JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))

  it.each<[string, RawRequest, number, string, string | undefined]>([
    ['malformed JSON', raw('{"data":'), 400, 'MALFORMED_DOCUMENT', undefined],
    ['an empty body', raw(''), 400, 'MALFORMED_DOCUMENT', undefined],
    [
      'bytes that are no UTF-8',
      raw(Uint8Array.of(0x22, 0xff, 0x22)),
      400,
      'MALFORMED_DOCUMENT',
      undefined,
    ],
    ['a list', raw('[]'), 400, 'MALFORMED_DOCUMENT', ''],
    ['no data', raw('{}'), 400, 'MALFORMED_DOCUMENT', '/data'],
    ['data that is a list', raw('{"data":[]}'), 400, 'MALFORMED_DOCUMENT', '/data'],
    [
      'no attributes',
      raw('{"data":{"type":"Event"}}'),
      400,
      'MALFORMED_DOCUMENT',
      '/data/attributes',
    ],
    [
      'another resource type',
      raw('{"data":{"type":"events"}}'),
      409,
      'WRONG_RESOURCE_TYPE',
      '/data/type',
    ],
    ['no resource type', raw('{"data":{}}'), 409, 'WRONG_RESOURCE_TYPE', '/data/type'],
    [
      'an id of the client',
      raw('{"data":{"type":"Event","id":"1"}}'),
      403,
      'CLIENT_ID',
      '/data/id',
    ],
    ['a wrong media type', raw('{}', 'application/json'), 415, 'UNSUPPORTED_MEDIA_TYPE', undefined],
    [
      'a media type parameter',
      raw('{}', `${JSON_API}; ext=x`),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      undefined,
    ],
    [
      'a charset',
      raw('{}', `${JSON_API}; charset=latin1`),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      undefined,
    ],
    ['no media type', { method: 'POST', body: '{}' }, 415, 'UNSUPPORTED_MEDIA_TYPE', undefined],
    ['no event type', newEvent({ name: 'x' }), 422, 'INVALID_EVENT', '/data/attributes/type'],
    [
      'an event type that is no text',
      newEvent({ type: 5 }),
      422,
      'INVALID_EVENT',
      '/data/attributes/type',
    ],
    ['an empty event type', newEvent({ type: '' }), 422, 'INVALID_EVENT', '/data/attributes/type'],
    [
      'a long event type',
      newEvent({ type: 'x'.repeat(256) }),
      422,
      'INVALID_EVENT',
      '/data/attributes/type',
    ],
    [
      'a control character',
      newEvent({ type: 'a\nb' }),
      422,
      'INVALID_EVENT',
      '/data/attributes/type',
    ],
    [
      'a reserved attribute',
      newEvent({ type: 'x', username: 'eve' }),
      422,
      'INVALID_EVENT',
      '/data/attributes/username',
    ],
    [
      'another reserved attribute',
      newEvent({ type: 'x', created_at: '2026-01-01' }),
      422,
      'INVALID_EVENT',
      '/data/attributes/created_at',
    ],
    [
      'a wrong path',
      newEvent({ type: 'x', node_path: '/projects' }),
      422,
      'INVALID_LINK',
      '/data/attributes/node_path',
    ],
    [
      'a path upwards',
      newEvent({ type: 'x', project_path: '/projects/..' }),
      422,
      'INVALID_LINK',
      '/data/attributes/project_path',
    ],
    [
      'a wrong UUID',
      newEvent({ type: 'x', change_id: '12' }),
      422,
      'INVALID_LINK',
      '/data/attributes/change_id',
    ],
    [
      'U+0000',
      newEvent({ type: 'x', a: { b: 'c\0' } }),
      422,
      'INVALID_EVENT',
      '/data/attributes/a/b',
    ],
    [
      'deep nesting',
      newEvent({ type: 'x', a: deep(64) }),
      422,
      'INVALID_EVENT',
      `/data/attributes${'/a'.repeat(64)}`,
    ],
    [
      '2 MB',
      newEvent({ type: 'x', text: 'x'.repeat(2_000_000) }),
      413,
      'BODY_TOO_LARGE',
      undefined,
    ],
    [
      'no credentials',
      { ...newEvent({ type: 'x' }), user: null },
      401,
      'UNAUTHENTICATED',
      undefined,
    ],
    [
      'a wrong password',
      { ...newEvent({ type: 'x' }), user: 'ann:wrong' },
      401,
      'UNAUTHENTICATED',
      undefined,
    ],
    [
      'an unknown user',
      { ...newEvent({ type: 'x' }), user: 'mallory' },
      401,
      'UNAUTHENTICATED',
      undefined,
    ],
  ])('refuses %s and stores nothing', async (_title, request, status, code, pointer) => {
    const response = await post(request)
    expect(response.status).toBe(status)
    expect(response.headers['content-type']).toBe(JSON_API)
    const error = errorOf(response)
    expect(error).toMatchObject({ status: String(status), code })
    expect(error.source?.pointer).toBe(pointer)
    expect(await stored()).toEqual([])
  })

  it('refuses a large body that comes in chunks without a length', async () => {
    const body = JSON.stringify({
      data: { type: 'Event', attributes: { text: 'x'.repeat(2_000_000) } },
    })
    const response = await post({
      method: 'POST',
      headers: { 'content-type': JSON_API, 'transfer-encoding': 'chunked' },
      body,
    })
    expect(response.status).toBe(413)
    expect(await stored()).toEqual([])
  })

  it('challenges who is not known', async () => {
    const response = await server.send('/api/events', { user: null })
    expect(response.status).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Basic realm="Daybook", charset="UTF-8"')
  })

  it('stores an attribute named __proto__ as any other', async () => {
    const body = '{"data":{"type":"Event","attributes":{"type":"x","__proto__":{"admin":true}}}}'
    expect((await post(raw(body))).status).toBe(201)
    const [event] = await stored()
    expect(Object.keys(event!.attributes)).toEqual(['__proto__'])
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  it('reads what a body parser of the host has read before', async () => {
    const { bodyParser } = await import('@koa/bodyparser')
    const parser = bodyParser({ enableTypes: ['json'], extendTypes: { json: [JSON_API] } })
    const other = await serve({ outside: [parser] })
    try {
      const response = await other.send('/api/events', newEvent({ type: 'parsed', n: 1 }))
      expect(response.status).toBe(201)
      expect((await other.audit.list()).events[0]).toMatchObject({
        type: 'parsed',
        attributes: { n: 1 },
      })
    } finally {
      await other.close()
    }
  })
})

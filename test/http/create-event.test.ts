import { AuditLog, AuditLogError, describeEvent, type ResolveSource, sentenceText } from 'daybook'
import { toCloudEvent, toOcsf } from 'daybook/formats'
import { auditRoutes, type AuditRoutesOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowLinks } from 'daybook/workflow'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { expectError } from '../support/expect-error.js'
import { JSON_API, newEvent, type RawRequest, serve, type TestServer } from '../support/http.js'

const UUID = '0196b3c2-1111-4222-8333-444455556666'

const raw = (body: string | Uint8Array, contentType = JSON_API): RawRequest => ({
  method: 'POST',
  headers: { 'content-type': contentType },
  body,
})
/** An event whose attributes are written as this text. */
const written = (attributes: string): RawRequest =>
  raw(`{"data":{"type":"Event","attributes":${attributes}}}`)
const deep = (levels: number): unknown =>
  JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))
const arrays = '['.repeat(200_000) + ']'.repeat(200_000)

type Refused = readonly [title: string, request: RawRequest, pointer?: string]

/** Requests that are refused, by the status and the code of the error, with the pointer of its source. */
const refused: Readonly<Record<string, readonly Refused[]>> = {
  '400 MALFORMED_DOCUMENT': [
    ['malformed JSON', raw('{"data":')],
    ['an empty body', raw('')],
    ['bytes that are not UTF-8', raw(Uint8Array.of(0x22, 0xff, 0x22))],
    ['a list', raw('[]'), ''],
    ['a BOM within', raw('{"data":\u{feff}{}}')],
    ['data that is null', raw('{"data":null}'), '/data'],
    ['null attributes', written('null'), '/data/attributes'],
    ['no data', raw('{}'), '/data'],
    ['data that is a list', raw('{"data":[]}'), '/data'],
    ['no attributes', raw('{"data":{"type":"Event"}}'), '/data/attributes'],
    ['attributes of nested arrays', written(arrays), '/data/attributes'],
  ],
  '401 UNAUTHENTICATED': [
    ['no credentials', { ...newEvent({ type: 'x' }), user: null }],
    ['a wrong password', { ...newEvent({ type: 'x' }), user: 'ann:wrong' }],
    ['an unknown user', { ...newEvent({ type: 'x' }), user: 'mallory' }],
  ],
  '403 CLIENT_ID': [
    ['a client-generated id', raw('{"data":{"type":"Event","id":"1"}}'), '/data/id'],
    ['an id of nested arrays', raw(`{"data":{"type":"Event","id":${arrays}}}`), '/data/id'],
  ],
  '409 WRONG_RESOURCE_TYPE': [
    ['another resource type', raw('{"data":{"type":"events"}}'), '/data/type'],
    ['no resource type', raw('{"data":{}}'), '/data/type'],
    ['a resource type of nested arrays', raw(`{"data":{"type":${arrays}}}`), '/data/type'],
  ],
  '413 BODY_TOO_LARGE': [
    [
      'numbers longer than a megabyte in decimal notation',
      written(`{"type":"x","a":[${Array(9000).fill('1e20').join()}],"b":"${'x'.repeat(900_000)}"}`),
      '/data/attributes',
    ],
    ['2 MB', newEvent({ type: 'x', text: 'x'.repeat(2_000_000) })],
  ],
  '415 UNSUPPORTED_MEDIA_TYPE': [
    ['a wrong media type', raw('{}', 'application/json')],
    ['a media type parameter', raw('{}', `${JSON_API}; ext=x`)],
    ['a charset', raw('{}', `${JSON_API}; charset=latin1`)],
    ['no media type', { method: 'POST', body: '{}' }],
  ],
  '422 INVALID_EVENT': [
    ['no event type', newEvent({ name: 'x' }), '/data/attributes/type'],
    ['an event type that is not a string', newEvent({ type: 5 }), '/data/attributes/type'],
    ['an empty event type', newEvent({ type: '' }), '/data/attributes/type'],
    ['a long event type', newEvent({ type: 'x'.repeat(256) }), '/data/attributes/type'],
    ['a control character', newEvent({ type: 'a\nb' }), '/data/attributes/type'],
    ['an event type of nested arrays', written(`{"type":${arrays}}`), '/data/attributes/type'],
    ...['username', 'created_at', 'system'].map((name): Refused => [
      `the reserved attribute ${name}`,
      newEvent({ type: 'x', [name]: true }),
      `/data/attributes/${name}`,
    ]),
    [
      'a number that is too large',
      written('{"type":"x","a~/":[0,-1e400]}'),
      '/data/attributes/a~0~1/1',
    ],
    ...['-0', '-0.0', '1e-400', '9007199254740993', '3.141592653589793238', '1e400'].map(
      (number): Refused => [
        `the number ${number}`,
        written(`{"type":"x","a~/":[-0.5,{"b":${number}}]}`),
        '/data/attributes/a~0~1/1/b',
      ],
    ),
    [
      'an attribute of nested arrays',
      written(`{"type":"x","a":${arrays}}`),
      `/data/attributes/a${'/0'.repeat(63)}`,
    ],
    [
      'half of a surrogate pair in a name',
      written('{"type":"x","a":{"\\ud800":1}}'),
      '/data/attributes/a/\ud800',
    ],
    [
      'more than 10,000 members',
      newEvent({ type: 'x', a: Array.from({ length: 5000 }, () => ({ b: 1 })) }),
      '/data/attributes',
    ],
    ['U+0000', newEvent({ type: 'x', a: { b: 'c\0' } }), '/data/attributes/a/b'],
    ['deep nesting', newEvent({ type: 'x', a: deep(64) }), `/data/attributes${'/a'.repeat(64)}`],
  ],
}

describe('POST /api/events', () => {
  let server: TestServer

  beforeEach(async () => {
    server = await serve()
  })
  afterEach(() => server.close())

  const post = (request: RawRequest) => server.send('/api/events', request)
  /** The custom events. That authentication refuses a request is an event of the service. */
  const stored = async () => (await server.audit.list('filter[system_eq]=false')).events

  it('creates a custom event: 201, no body, Location', async () => {
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

  it('keeps attributes that have one meaning in system events, and shows them as no facts', async () => {
    const known = {
      outcome: 'denied',
      actor_id: 'root',
      user_agent: 'curl/8',
      reason: 7,
      approved_by: { name: 'ann' },
      agent_session_id: 'run-1',
    }
    expect((await post(newEvent({ type: 'x', ...known }))).status).toBe(201)
    const { events } = await server.audit.list('filter[outcome_eq]=denied&filter[actor_id_eq]=root')
    expect(events.map(({ attributes }) => attributes)).toEqual([known])
    expect(sentenceText(describeEvent(events[0]!))).toBe('ann: [custom] x')
    expect(toOcsf(events[0]!, { product: { name: 'orders' } })).toMatchObject({
      status_id: 1,
      actor: { user: { name: 'ann' } },
      unmapped: known,
    })
    const { authid, outcome } = toCloudEvent(events[0]!, { source: '/orders' })
    expect([authid, outcome]).toEqual(['ann', undefined])
  })

  it('has the source of one of several links', async () => {
    const links = { change_id: UUID, project_id: UUID }
    expect((await post(newEvent({ type: 'x', ...links }))).status).toBe(201)
    const [event] = await stored()
    expect([event!.source, event!.attributes]).toEqual([`/api/changes/${UUID}`, links])
  })

  it('accepts null for no link', async () => {
    expect((await post(newEvent({ type: 'x', change_id: null }))).status).toBe(201)
    expect((await stored())[0]).toMatchObject({ source: null, attributes: { change_id: null } })
  })

  it.each(['linked:to:project:acme', 'api:changes:create', 'anything at all', 'Ärger'])(
    'accepts the event type %s',
    async (type) => {
      expect((await post(newEvent({ type }))).status).toBe(201)
      expect(await stored()).toMatchObject([{ type, system: false }])
    },
  )

  it('accepts the resource type event, members beside data, and charset=utf-8', async () => {
    const body = JSON.stringify({
      data: { type: 'event', attributes: { type: 'x' }, meta: { a: 1 } },
      meta: {},
      included: [],
    })
    const headers = { 'content-type': `${JSON_API}; charset=UTF-8` }
    expect((await post({ method: 'POST', headers, body })).status).toBe(201)
  })

  const refusals = Object.entries(refused).flatMap(([answer, rows]) =>
    rows.map(([title, request, pointer]) => ({ answer, title, request, pointer })),
  )
  it.each(refusals)('responds $answer to $title', async ({ answer, request, pointer }) => {
    const [status, code] = answer.split(' ')
    const { source } = expectError(await post(request), Number(status), code!)
    expect(source?.pointer).toBe(pointer)
    expect(await stored()).toEqual([])
  })

  it('refuses a large chunked body without a length', async () => {
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

  it('challenges unauthenticated requests', async () => {
    const response = await server.send('/api/events', { user: null })
    expect(response.status).toBe(401)
    expect(response.headers['www-authenticate']).toBe('Basic realm="Daybook", charset="UTF-8"')
  })

  it('stores an attribute named __proto__ like any other', async () => {
    const attributes = '{"type":"x","__proto__":{"admin":true}}'
    expect((await post(written(attributes))).status).toBe(201)
    const [event] = await stored()
    expect(Object.keys(event!.attributes)).toEqual(['__proto__'])
    expect(({} as { admin?: boolean }).admin).toBeUndefined()
  })

  it.each([
    ['constructor', '{"constructor":{"prototype":{"admin":true}}}'],
    ['hasOwnProperty', '{"hasOwnProperty":1,"toString":null,"valueOf":[]}'],
    ['toJSON', '{"toJSON":"x","then":{"toJSON":1}}'],
    ['numbers as names', '{"2":"b","1":"a"}'],
    ['a nested type', '{"nested":{"type":1,"id":2,"system":3}}'],
    ['escaped and empty names', '{"":0,"a/b":{"~":1},"\\u0041":2}'],
    [
      'values of any type',
      '{"a":"b","c":[1,"d",null,[3],{"e":4}],"f":{"g":{"h":true}},"i":-1.5e3}',
    ],
    ['small and large numbers', '{"n":[0,5e-324,1.7976931348623157e308,9007199254740991,0.1]}'],
  ])('keeps %s as data', async (_title, json) => {
    const text = `{"type":"x",${json.slice(1)}`
    const response = await post(written(text))
    expect(response.status).toBe(201)
    const { body } = await server.send(response.headers.location!)
    const { attributes } = (JSON.parse(body) as { data: { attributes: object } }).data
    expect(attributes).toMatchObject(JSON.parse(json) as object)
    expect((await stored())[0]!.attributes).toEqual(JSON.parse(json))
  })

  it('accepts numbers that a double holds, and ignores numbers outside of the attributes', async () => {
    const numbers = '[0, 0.10, 1e20, 18446744073709551616, 0.10000000000000001]'
    const attributes = `{"type":"x","n":${numbers},"text":"-0 1e999"}`
    const body = `{"data":{"type":"Event","attributes":${attributes},"meta":-0},"meta":{"attributes":1e999}}`
    expect((await post(raw(body))).status).toBe(201)
    expect((await stored())[0]!.attributes['n']).toEqual([0, 0.1, 1e20, 2 ** 64, 0.1])
  })

  it('uses the last of duplicate members, as JSON.parse does', async () => {
    expect((await post(written('{"type":"x","type":"y","n":1,"n":2}'))).status).toBe(201)
    expect((await stored())[0]).toMatchObject({ type: 'y', attributes: { n: 2 } })
  })

  it('accepts an event at the limits', async () => {
    const members = { type: 'x', a: Array.from({ length: 4999 }, () => ({ b: 1 })), c: 1 }
    expect((await post(newEvent(members))).status).toBe(201)
    expect((await post(newEvent({ type: 'x', a: deep(63) }))).status).toBe(201)
    const frame = JSON.stringify({ data: { type: 'Event', attributes: { type: 'x', a: '' } } })
    const text = 'x'.repeat(1_048_576 - frame.length)
    expect((await post(newEvent({ type: 'x', a: text }))).status).toBe(201)
    expect((await post(newEvent({ type: 'x', a: `${text}x` }))).status).toBe(413)
    expect((await stored()).map(({ attributes }) => attributes['recording'])).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('accepts a BOM before the document', async () => {
    const body = '\u{feff}{"data":{"type":"Event","attributes":{"type":"x"}}}'
    expect((await post(raw(body))).status).toBe(201)
  })

  describe('with resolveSource', () => {
    const answerOf = async (resolveSource: ResolveSource) => {
      const audit: AuditLog = new AuditLog({
        store: memoryStore(),
        types: {},
        links: workflowLinks,
        resolveSource,
      })
      const host = await serve({ inside: [auditRoutes(audit, { path: '/resolving' })] })
      onTestFinished(async () => {
        await host.close()
        await audit.close()
      })
      const response = await host.send('/resolving', newEvent({ type: 'x', change_id: UUID }))
      return { response, events: (await audit.list()).events }
    }

    it('uses the source that it returns', async () => {
      const { response, events } = await answerOf(({ value }) => `/changes/${value}`)
      expect(response.status).toBe(201)
      expect(events[0]!.source).toBe(`/changes/${UUID}`)
    })

    it('names the refused link in the error', async () => {
      const { response, events } = await answerOf(() => {
        throw new AuditLogError('INVALID_LINK', 'there is no such change')
      })
      const source = { pointer: '/data/attributes/change_id' }
      const { detail } = expectError(response, 422, 'INVALID_LINK', source)
      expect(detail).toBe('there is no such change')
      expect(events).toEqual([])
    })

    it('passes other errors to the host', async () => {
      const { response, events } = await answerOf(() => {
        throw new Error('the host’s own secret')
      })
      expect(response.status).toBe(500)
      expect(response.body).not.toContain('secret')
      expect(events).toEqual([])
    })
  })

  it('accepts a body that a body parser has already read', async () => {
    const { bodyParser } = await import('@koa/bodyparser')
    const parser = bodyParser({ enableTypes: ['json'], extendTypes: { json: [JSON_API] } })
    const other = await serve({ outside: [parser] })
    onTestFinished(other.close)
    const response = await other.send('/api/events', newEvent({ type: 'parsed', n: 1 }))
    expect(response.status).toBe(201)
    const [event] = (await other.audit.list()).events
    expect(event).toMatchObject({ type: 'parsed', attributes: { n: 1 } })
  })
})

describe('POST /api/events with the option redact', () => {
  const created = async (redact: AuditRoutesOptions['redact'], attributes: object) => {
    const server = await serve({ feed: redact === undefined ? {} : { redact } })
    onTestFinished(server.close)
    const response = await server.send('/api/events', newEvent({ type: 'x', ...attributes }))
    expect(response.status).toBe(201)
    return (await server.audit.list()).events[0]!.attributes
  }

  it('lists in recording the values that it replaced', async () => {
    const attributes = {
      password: 'hush',
      url: 'redis://:hush@cache',
      list: [{ code: '1' }],
      parent: { code: 'A', node_type: 'asset' },
      'a/b': { pin: 1 },
    }
    expect(await created(true, attributes)).toEqual({
      password: '[redacted]',
      url: 'redis://:[redacted]@cache',
      list: [{ code: '[redacted]' }],
      parent: { code: 'A', node_type: 'asset' },
      'a/b': { pin: '[redacted]' },
      recording: { redacted: ['/password', '/url', '/list/0/code', '/a~1b/pin'] },
    })
  })

  it('keeps the attribute recording of the client', async () => {
    const attributes = { recording: 'mine', attributes_recording: 'too', pin: 1 }
    expect(await created(true, attributes)).toEqual({
      attributes_recording: 'too',
      attributes_attributes_recording: 'mine',
      pin: '[redacted]',
      recording: { redacted: ['/pin'] },
    })
    expect(await created(true, { recording: 'mine' })).toEqual({ recording: 'mine' })
  })

  it('takes keys, paths and exceptions', async () => {
    const redact = { keys: ['note'], paths: ['list.*.x'], except: ['pin'] }
    expect(await created(redact, { note: 'n', list: [{ x: 1 }], pin: 1 })).toEqual({
      note: '[redacted]',
      list: [{ x: '[redacted]' }],
      pin: 1,
      recording: { redacted: ['/note', '/list/0/x'] },
    })
  })

  it('replaces nothing without it', async () => {
    const attributes = { password: 'hush', url: 'redis://:hush@cache' }
    expect(await created(undefined, attributes)).toEqual(attributes)
    expect(await created(false, attributes)).toEqual(attributes)
  })
})

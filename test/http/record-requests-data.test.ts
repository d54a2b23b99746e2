import { AuditLog, defineEventTypes, type JsonObject } from 'daybook'
import { recordRequests, type RecordRequestsOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import { workflowLinks } from 'daybook/workflow'
import type { Middleware } from 'koa'
import { describe, expect, it } from 'vitest'
import { done, parser, type RecordedApp, useRecorded } from './recorded.js'

const { start: startApp, events } = useRecorded()

const start = (
  record: RecordRequestsOptions = {},
  ...middleware: readonly Middleware[]
): Promise<RecordedApp> => startApp([parser as Middleware, ...middleware, done], { record })

const recorded = async (): Promise<JsonObject[]> =>
  (await events()).map(({ attributes }) => attributes)

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('the data of a request', () => {
  it('contains address, duration and trace context', async () => {
    const { postJson } = await start()
    const before = performance.now()
    await postJson(
      '/a?b=c',
      { a: 1 },
      {
        'x-request-id': 'req-7',
        traceparent: `00-${TRACE}-${SPAN}-01`,
      },
    )
    const took = performance.now() - before
    const [data] = await recorded()
    const duration = data!['duration_ms'] as number
    expect(data).toEqual({
      request_method: 'POST',
      request_path: '/a',
      request_body: { a: 1 },
      response_status: 204,
      duration_ms: duration,
      outcome: 'success',
      remote_address: '127.0.0.1',
      request_id: 'req-7',
      trace_id: TRACE,
      span_id: SPAN,
    })
    expect(duration).toBeGreaterThan(0)
    expect(duration).toBeLessThanOrEqual(took)
    expect(String(duration)).toMatch(/^\d+(?:\.\d{1,3})?$/)
  })

  it.each([
    ['x-request-id', 'x'.repeat(201)],
    ['x-request-id', 'two words'],
    ['x-request-id', 'h\u00e9'],
    ['x-request-id', ''],
    ['traceparent', `ff-${TRACE}-${SPAN}-01`],
  ])('leaves out a %s that is %j', async (name, value) => {
    const { postJson } = await start()
    await postJson('/a', {}, { [name]: value })
    const [data] = await recorded()
    expect(Object.keys(data!)).toEqual([
      'request_method',
      'request_path',
      'response_status',
      'duration_ms',
      'remote_address',
      'outcome',
    ])
  })

  it('contains the request id of the host, and none if requestId throws or returns no text', async () => {
    const broken = new Error('no id')
    const { postJson, errors } = await start({
      requestId: (ctx) => {
        if (ctx.path === '/broken') throw broken
        if (ctx.path === '/number') return 7 as never
        return ctx.path === '/none' ? undefined : `id of ${ctx.path}`
      },
    })
    for (const path of ['/a', '/none', '/broken', '/number'])
      await postJson(path, {}, { 'x-request-id': 'theirs' })
    expect((await recorded()).map((data) => data['request_id'])).toEqual([
      'id of /a',
      undefined,
      undefined,
      undefined,
    ])
    expect(errors).toMatchObject([broken, { code: 'INVALID_OPTION' }])
  })

  it('has the outcome by the status, unless describe gives one', async () => {
    const app = await startApp(
      [
        (ctx) => {
          ctx.status = Number(ctx.path.slice(1))
        },
      ],
      { record: { describe: ({ path }) => ({ outcome: given[path] }) } },
    )
    const given: Record<string, unknown> = { '/200': 'failure', '/201': 'no', '/202': null }
    const statuses = [200, 201, 202, 204, 302, 400, 401, 403, 404, 429, 500, 503]
    for (const status of statuses) await app.send(`/${status}`, { method: 'POST' })
    const found = await events()
    expect(
      found.map(({ attributes }) => [attributes['response_status'], attributes['outcome']]),
    ).toEqual([
      [200, 'failure'],
      [201, 'success'],
      [202, 'success'],
      [204, 'success'],
      [302, 'success'],
      [400, 'failure'],
      [401, 'denied'],
      [403, 'denied'],
      [404, 'failure'],
      [429, 'failure'],
      [500, 'failure'],
      [503, 'failure'],
    ])
    const others = found.map(({ attributes }) => attributes['attributes_outcome'])
    expect(others.filter((other) => other !== undefined)).toEqual(['no'])
  })

  it('has the program of the client without its secrets, cut to 512 bytes', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const { send } = await start()
    const agents = ['curl/8', `bot ${secret}`, `${'x'.repeat(490)} ${secret}`, 'y'.repeat(600)]
    for (const agent of agents)
      await send('/a', { method: 'POST', headers: { 'user-agent': agent } })
    const shown = (await recorded()).map(({ user_agent }) => user_agent as string)
    expect(shown.slice(0, 2)).toEqual(['curl/8', 'bot [redacted]'])
    expect(shown[2]).toMatch(/^x{490} \[redacted\]$/)
    expect(shown[3]).toMatch(/^y{500,512}$/)
  })

  it('has no program of the client where redact names it', async () => {
    const { send } = await start({ redact: { keys: ['user_agent'] } })
    await send('/a', { method: 'POST', headers: { 'user-agent': 'curl/8' } })
    expect(await recorded()).toMatchObject([{ user_agent: '[redacted]' }])
  })

  it('is recorded without a reason that its type requires, which the host learns', async () => {
    const types = defineEventTypes({ 'api:unmatched:create': { reason: 'required' } })
    const app = await startApp([done], {
      types,
      record: { describe: ({ path }) => ({ reason: path === '/a' ? 'ticket' : undefined }) },
    })
    await app.send('/a', { method: 'POST' })
    await app.send('/b', { method: 'POST' })
    expect((await events()).map(({ attributes }) => attributes['reason'])).toEqual([
      'ticket',
      undefined,
    ])
    expect(app.errors).toMatchObject([
      { code: 'INVALID_DATA', message: expect.stringContaining('needs a reason') as string },
    ])
  })

  it('has that of describe, whose path is the source', async () => {
    const given = { name: 'nightly', parent: { code: 'acme' }, project_path: '/projects/acme' }
    const app = await startApp([parser as Middleware, done], {
      record: { describe: () => given },
      log: { links: workflowLinks },
    })
    await app.postJson('/a', {})
    expect(await events()).toMatchObject([
      { source: '/api/projects/acme', attributes: { name: 'nightly', parent: { code: 'acme' } } },
    ])
  })

  it('fits types that declare their data, when the log is strict', async () => {
    const types = defineEventTypes({ 'api:unmatched:create': { data: ['total'] } })
    await using audit: AuditLog = new AuditLog({ store: memoryStore(), types, strict: true })
    const record = recordRequests(audit, { maxBodyBytes: 10 }) as Middleware
    const app = await startApp([parser as Middleware, record, done], { record: false })
    const headers = { 'x-request-id': '7', traceparent: `00-${TRACE}-${SPAN}-01` }
    await app.postJson('/a', { a: 'x'.repeat(99) }, headers)
    const { events } = await audit.list()
    expect(events[0]!.attributes).toMatchObject({ request_body_cut: true, trace_id: TRACE })
  })
})

describe('the body of a request', () => {
  const withBody =
    (body: unknown): Middleware =>
    (ctx, next) => {
      ctx.request.body = body
      return next()
    }

  it.each([
    ['a text', 'plain', 'plain'],
    ['null', null, null],
    ['a list', [1, { pin: 2 }], [1, { pin: '[redacted]' }]],
    ['bytes', Buffer.alloc(9), { bytes: 9 }],
    [
      'attributes with a throwing getter',
      new Proxy(
        {},
        {
          get: () => {
            throw new Error('no')
          },
        },
      ),
      null,
    ],
  ])('may be %s', async (_name, body, expected) => {
    const { send, events } = await start({}, withBody(body))
    await send('/a', { method: 'POST' })
    expect((await events())[0]!.attributes['request_body']).toEqual(expected)
  })

  it.each([
    ['undefined', undefined],
    ['an empty object', {}],
    ['an empty text', ''],
  ])('is omitted if it is %s', async (_name, body) => {
    const { send } = await start({}, withBody(body))
    await send('/a', { method: 'POST' })
    expect((await recorded())[0]).not.toHaveProperty('request_body')
  })

  it('is made of the attributes of a JSON:API document, and events are found by them', async () => {
    const { postJson, audit } = await start()
    const attributes = { action: 'deploy', password: 'hush' }
    await postJson('/a', { data: { type: 'thing', attributes } })
    const { events } = await audit.list('filter[request_body_action_eq]=deploy')
    expect(events).toMatchObject([
      { attributes: { request_body: { action: 'deploy', password: '[redacted]' } } },
    ])
  })

  it('is cut if it is long, with request_body_cut', async () => {
    const { postJson } = await start()
    const body = { first: 'a'.repeat(100_000), list: Array(50_000).fill(1), last: 'z' }
    expect((await postJson('/a', body)).status).toBe(204)
    const [data] = await recorded()
    const kept = data!['request_body'] as typeof body
    expect(data!['request_body_cut']).toBe(true)
    expect(Object.keys(kept)).toEqual(['first', 'list', 'last'])
    expect(kept.first.length).toBeGreaterThan(30_000)
    expect(kept.last).toBe('z')
    const bytes = JSON.stringify(kept).length
    expect(bytes).toBeLessThanOrEqual(65_536)
    expect(bytes).toBeGreaterThan(40_000)
  })

  it('is omitted with maxBodyBytes: 0', async () => {
    const { postJson } = await start({ maxBodyBytes: 0 })
    await postJson('/a', { a: 1 })
    const [data] = await recorded()
    expect(data).not.toHaveProperty('request_body')
    expect(data!['request_body_cut']).toBe(true)
  })

  it('is recorded at any depth', async () => {
    const { send } = await start()
    const body = `{"password":"p","deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    const headers = { 'content-type': 'application/json' }
    await send('/a', { method: 'POST', headers, body })
    expect((await recorded())[0]!['request_body']).toMatchObject({ password: '[redacted]' })
  })

  it.each([[-1], [1.5], [Number.NaN], ['9' as unknown as number]])(
    'cannot be limited to %s',
    async (maxBodyBytes) => {
      await expect(start({ maxBodyBytes })).rejects.toMatchObject({
        code: 'INVALID_OPTION',
        message: 'maxBodyBytes must be a whole number of at least 0',
      })
    },
  )
})

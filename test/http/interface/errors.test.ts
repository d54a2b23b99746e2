import { describe, expect, it } from 'vitest'
import catalogue from '../../fixtures/event-types.json' with { type: 'json' }
import { eachStore } from '../../support/event-stores.js'
import {
  type ErrorDocument,
  errorOf,
  JSON_API,
  newEvent,
  type RawRequest,
  type RawResponse,
} from '../../support/http.js'
import {
  type Attributes,
  clientOf,
  type Resource,
  resourceOf,
  timeOf,
  useDemo,
  useServer,
} from '../../support/host.js'

/*
 * The interface, "Errors", sentence by sentence. It does not specify the body and the status of a
 * failed request; here they are JSON:API error objects. Denied approvals: `authentication.test.ts`.
 */

const PROD = '/projects/acme/environments/prod'

describe.each(eachStore)('Failures of the service, on the %s store', (_name, create) => {
  const demo = useDemo(create)
  const { send, events, waitFor, write, act } = clientOf(() => demo().url)

  it('work that fails leaves an error: event with the reason and a backtrace', async () => {
    const { id } = resourceOf(
      await write('POST', '/api/changes', 'change', {
        name: 'broken',
        node_path: PROD,
        steps: [{ name: 'fail', action: 'fail', message: 'boom' }],
      }),
    )
    resourceOf(await act(`/api/changes/${id}/start`))
    const [failed] = await waitFor(`filter[type_start]=error:&filter[change_id_eq]=${id}`)
    expect(failed!.attributes).toMatchObject({
      type: 'error:step:action',
      system: true,
      error: 'boom',
      backtrace: expect.stringContaining('Error: boom'),
    })
    expect(
      await waitFor(`filter[type_eq]=api:changes:error&filter[change_id_eq]=${id}`),
    ).toHaveLength(1)
  })

  it.each<[string, number, () => Promise<RawResponse>]>([
    [
      'error:projects:create',
      403,
      () => write('POST', '/api/projects', 'project', { code: 'x' }, 'eve'),
    ],
    [
      'error:projects:create',
      409,
      () => write('POST', '/api/projects', 'project', { code: 'acme' }),
    ],
    ['error:projects:create', 422, () => write('POST', '/api/projects', 'project', {})],
    [
      'error:projects:update',
      404,
      () => write('PATCH', '/api/projects/no', 'project', { name: 'x' }),
    ],
    ['error:projects:destroy', 404, () => send('/api/projects/no', { method: 'DELETE' })],
  ])('a request that fails leaves %s (%i)', async (type, status, request) => {
    const [before] = await events('limit=1')
    const response = await request()
    expect(response.status).toBe(status)
    const [event, ...others] = await events(`filter[created_at_gt]=${timeOf(before)}`)
    expect(others).toEqual([])
    const { detail } = errorOf(response)
    expect(event!.attributes).toMatchObject({
      type,
      system: true,
      error: detail,
      response_status: status,
    })
  })
})

const deep = (levels: number): unknown =>
  JSON.parse('{"a":'.repeat(levels) + '1' + '}'.repeat(levels))
const document = (text: string, type = JSON_API): RawRequest => ({
  method: 'POST',
  headers: { 'content-type': type },
  body: text,
})

const failure = (
  status: number,
  code: string,
  path: string,
  request: RawRequest = {},
  source?: Attributes,
) => ({ status, code, path, request, source })

/** What is wrong with a request to `/api/events<path>`, and where the error says that it is. */
const failures = [
  failure(400, 'UNKNOWN_PREDICATE', '?filter[type_is]=x', {}, { parameter: 'filter[type_is]' }),
  failure(400, 'INVALID_VALUE', '?filter[system_eq]=x', {}, { parameter: 'filter[system_eq]' }),
  failure(400, 'INVALID_VALUE', '?limit=0', {}, { parameter: 'limit' }),
  failure(400, 'UNKNOWN_PARAMETER', '?page[size]=5', {}, { parameter: 'page[size]' }),
  failure(400, 'MALFORMED_PARAMETER', '?filter=x', {}, { parameter: 'filter' }),
  failure(400, 'MALFORMED_DOCUMENT', '', document('{"data":')),
  failure(400, 'MALFORMED_DOCUMENT', '', document('{}'), { pointer: '/data' }),
  failure(401, 'UNAUTHENTICATED', '', { user: null }),
  failure(403, 'CLIENT_ID', '', document('{"data":{"type":"Event","id":"1"}}'), {
    pointer: '/data/id',
  }),
  failure(404, 'NOT_FOUND', '/0196b3c2-0000-7000-8000-000000000000'),
  failure(405, 'METHOD_NOT_ALLOWED', '', { method: 'PUT' }),
  failure(406, 'NOT_ACCEPTABLE', '', { headers: { accept: 'text/html' } }, { header: 'accept' }),
  failure(409, 'WRONG_RESOURCE_TYPE', '', document('{"data":{"type":"x"}}'), {
    pointer: '/data/type',
  }),
  failure(413, 'BODY_TOO_LARGE', '', newEvent({ type: 'x', text: 'x'.repeat(2_000_000) })),
  failure(415, 'UNSUPPORTED_MEDIA_TYPE', '', document('{}', 'text/plain'), {
    header: 'content-type',
  }),
  failure(422, 'INVALID_EVENT', '', newEvent({ type: '' }), {
    pointer: '/data/attributes/type',
  }),
  failure(422, 'INVALID_EVENT', '', newEvent({ type: 'x', username: 'eve' }), {
    pointer: '/data/attributes/username',
  }),
  failure(422, 'INVALID_EVENT', '', newEvent({ type: 'x', a: deep(64) }), {
    pointer: `/data/attributes${'/a'.repeat(64)}`,
  }),
  failure(422, 'INVALID_LINK', '', newEvent({ type: 'x', change_id: '7' }), {
    pointer: '/data/attributes/change_id',
  }),
]

describe.each(eachStore)('Errors, on the %s store', (_name, create) => {
  const server = useServer(create, {
    routes: (router) =>
      router.get('/api/broken', () => {
        throw new Error('nobody expected this')
      }),
  })
  const { events } = clientOf(() => server().url)

  it('206 means that the limit cut the result', async () => {
    for (const n of [0, 1]) await server().audit.recordCustom('cut', { n })
    const query = '/api/events?filter[type_eq]=cut'
    expect((await server().send(`${query}&limit=1`)).status).toBe(206)
    expect((await server().send(`${query}&limit=2`)).status).toBe(200)
  })

  it('201 without a body means that an event was created', async () => {
    const { status, body } = await server().send('/api/events', newEvent({ type: 'created' }))
    expect([status, body]).toEqual([201, ''])
    expect(await events('filter[type_eq]=created')).toHaveLength(1)
  })

  it('an unexpected error leaves an event with the request, the reason and a backtrace', async () => {
    expect((await server().send('/api/broken')).status).toBe(500)
    const [event] = await events('filter[type_start]=error:api:')
    expect(event!.attributes).toMatchObject({
      type: 'error:api:controller:unhandled',
      system: true,
      request_method: 'GET',
      request_path: '/api/broken',
      error: 'nobody expected this',
      backtrace: expect.stringContaining('errors.test'),
    })
  })

  it('every type of the catalogue that is a failure is recorded, and found by its type', async () => {
    const types = catalogue.filter(({ level }) => level === 'error').map(({ type }) => type)
    for (const type of types)
      await server().audit.recordSystem(type, { error: `of ${type}`, catalogued: true })
    const found = await events('limit=1000&filter[type_start]=error:&filter[catalogued_true]=1')
    const reasons = ({ attributes }: Resource): unknown => [attributes['type'], attributes['error']]
    expect(found.map(reasons)).toEqual(types.map((type) => [type, `of ${type}`]))
  })

  it.each(failures)('$status $code: $path', async ({ status, code, path, request, source }) => {
    const before = await events('limit=1')
    const response = await server().send(`/api/events${path}`, request)
    expect(response.status, response.body).toBe(status)
    expect(response.headers['content-type']).toBe(JSON_API)
    expect((JSON.parse(response.body) as ErrorDocument).errors).toEqual([
      {
        status: String(status),
        code,
        title: expect.stringMatching(/./),
        detail: expect.stringMatching(/./),
        ...(source && { source }),
      },
    ])
    // Nothing is stored, and requests to the feed are not recorded.
    expect(await events('limit=1')).toEqual(before)
  })
})

import { describe, expect, it } from 'vitest'
import catalogue from '../../fixtures/event-types.json' with { type: 'json' }
import { memoryPlace, sqlitePlace } from '../../support/event-stores.js'
import { errorOf, type RawResponse } from '../../support/http.js'
import {
  clientOf,
  type Resource,
  resourceOf,
  timeOf,
  useDemo,
  useServer,
} from '../../support/host.js'

/*
 * The interface, "Errors", sentence by sentence. The section does not specify the body and the status of a failed
 * request; see `create-event.test.ts` and `refused-parameters.test.ts`. The statuses 200, 201 and 206 are in
 * `create-event.test.ts` and `limits.test.ts`, denied approvals in `authentication.test.ts`.
 */

const PROD = '/projects/acme/environments/prod'

describe('Failures of the service', () => {
  const demo = useDemo(sqlitePlace)
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

describe('Errors', () => {
  const server = useServer(memoryPlace, {
    routes: (router) =>
      router.get('/api/broken', () => {
        throw new Error('nobody expected this')
      }),
  })
  const { events } = clientOf(() => server().url)

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

  it('every failure type of the catalogue is recorded, and found by its type', async () => {
    const types = catalogue.filter(({ level }) => level === 'error').map(({ type }) => type)
    for (const type of types)
      await server().audit.recordSystem(type, { error: `of ${type}`, catalogued: true })
    const found = await events('limit=1000&filter[type_start]=error:&filter[catalogued_true]=1')
    const reasons = ({ attributes }: Resource): unknown => [attributes['type'], attributes['error']]
    expect(found.map(reasons)).toEqual(types.map((type) => [type, `of ${type}`]))
  })
})

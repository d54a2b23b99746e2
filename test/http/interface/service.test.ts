import { beforeAll, describe, expect, it } from 'vitest'
import { sqlitePlace } from '../../support/event-stores.js'
import { errorOf, JSON_API, listOf, newEvent } from '../../support/http.js'
import {
  type Attributes,
  clientOf,
  type Resource,
  resourceOf,
  spaced,
  timeOf,
  useDemo,
} from '../../support/host.js'

/*
 * The parts of the interface about a complete service, tested with the demo: "What the service does", the attributes
 * of "Event", "Project", the filter examples of "List endpoints (general rules)" and its lists.
 */

const PROD = '/projects/acme/environments/prod'
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const change = {
  name: 'nightly',
  action: 'deploy',
  node_path: PROD,
  steps: [{ name: 'wait', action: 'wait', ms: 1 }],
}

/** Every list of the service. All but the last accept filters and sorts. */
const lists = [
  '/api/projects',
  '/api/projects/acme/environments',
  `/api${PROD}/assets`,
  '/api/changes',
  '/api/workflows',
  '/api/workflow_runs',
  '/api/bookmarks',
  '/api/scheduled_changes',
  '/api/git_remotes',
  '/api/templates',
  '/api/settings_versions',
] as const

/** The filter examples, with the events that each must find. */
const examples: readonly (readonly [query: string, finds: (attributes: Attributes) => boolean])[] =
  [
    ['filter[type_eq]=api:changes:create', ({ type }) => type === 'api:changes:create'],
    [
      'filter[type_in][]=note&filter[type_in][]=api:changes:start',
      ({ type }) => type === 'note' || type === 'api:changes:start',
    ],
    [
      'filter[request_body_action_eq]=deploy&filter[type_eq]=api:changes:create',
      ({ type, request_body }) =>
        type === 'api:changes:create' && (request_body as Attributes)['action'] === 'deploy',
    ],
    [
      'filter[url_params_project_code_eq]=acme',
      ({ url_params }) => (url_params as Attributes | undefined)?.['project_code'] === 'acme',
    ],
    [
      'filter[parent_code_eq]=acme&filter[parent_node_type_eq]=project',
      ({ parent }) => (parent as Attributes | undefined)?.['code'] === 'acme',
    ],
    [
      'filter[system_eq]=false&filter[name_start]=deploy:',
      ({ system, name }) => system === false && String(name).startsWith('deploy:'),
    ],
  ]

type Related = Record<string, { readonly links: { readonly related: string } }>

describe('The service of the interface', () => {
  const demo = useDemo(sqlitePlace)
  const { send, events, waitFor, write, act } = clientOf(() => demo().url)

  const after = async (event: Resource | undefined): Promise<readonly Resource[]> =>
    events(`limit=100&filter[created_at_gt]=${timeOf(event)}`)
  const newest = async (): Promise<Resource | undefined> => (await events('limit=1'))[0]

  beforeAll(async () => {
    const { id } = resourceOf(await write('POST', '/api/changes', 'change', change))
    resourceOf(await act(`/api/changes/${id}/start`))
    await waitFor('filter[type_eq]=api:changes:success')
    await write('POST', '/api/projects/acme/environments', 'environment', { code: 'qa' })
    const { id: workflow_id } = resourceOf(
      await write('POST', '/api/workflows', 'workflow', { name: 'w', steps: change.steps }),
    )
    await write('POST', '/api/workflow_runs', 'workflow_run', { workflow_id })
    await write('POST', '/api/bookmarks', 'bookmark', { name: 'b', path: '/projects/acme' })
    await write('POST', '/api/git_remotes', 'git_remote', { name: 'g', url: '/nowhere' })
    await write('POST', '/api/templates', 'template', { name: 't' })
    const run_at = new Date(Date.now() + 3_600_000).toISOString()
    await write('POST', '/api/scheduled_changes', 'scheduled_change', { name: 's', run_at, change })
    for (const name of ['deploy:one', 'other'])
      await send('/api/events', { ...newEvent({ type: 'note', name }), user: 'bob' })
    // The last background work: a git fetch that finds no repository.
    await waitFor('filter[type_eq]=error:git_remote:create')
  })

  it.each([
    [
      'creating data',
      'api:projects:create',
      () => write('POST', '/api/projects', 'project', { code: 'shop' }),
    ],
    [
      'updating data',
      'api:projects:update',
      () => write('PATCH', '/api/projects/shop', 'project', { name: 'Web shop' }),
    ],
    [
      'deleting data',
      'api:projects:destroy',
      () => send('/api/projects/shop', { method: 'DELETE' }),
    ],
  ])('%s is recorded as an event', async (_what, type, request) => {
    const before = await newest()
    expect((await request()).status).toBeLessThan(300)
    const [event, ...others] = await after(before)
    expect(others).toEqual([])
    expect(event!.attributes).toMatchObject({ type, system: true, username: 'ann' })
    expect(event!.relationships).toEqual({ source: { links: { source: '/api/projects/shop' } } })
  })

  it('interacting with activities is recorded as events', async () => {
    const { id } = resourceOf(await write('POST', '/api/changes', 'change', change))
    resourceOf(await act(`/api/changes/${id}/start`))
    await waitFor(`filter[type_eq]=api:changes:success&filter[change_id_eq]=${id}`)
    const types = (await events(`limit=100&filter[change_id_eq]=${id}`)).map(
      ({ attributes }) => attributes['type'],
    )
    expect(types).toEqual(expect.arrayContaining(['api:changes:create', 'api:changes:start']))
    // Background work produces events as well.
    expect(types).toEqual(expect.arrayContaining(['api:steps:success', 'api:changes:success']))
  })

  it('requests to the events endpoint are not recorded, unless access is refused', async () => {
    const before = await newest()
    await send('/api/events')
    await send('/api/events?filter[type_is]=x')
    await send(before!.links.self)
    await send('/api/events/none')
    await send('/api/events', { user: null })
    await send('/api/events', { method: 'DELETE' })
    await send('/api/events', newEvent({ type: '' }))
    await send('/api/events', newEvent({ type: 'the custom event alone' }))
    const found = await after(before)
    expect(found.map(({ attributes }) => attributes['type'])).toEqual([
      'error:unmatched:get',
      'the custom event alone',
    ])
  })

  it('reading data is not recorded', async () => {
    const before = await newest()
    for (const path of lists) expect((await send(path)).status).toBe(200)
    expect(await after(before)).toEqual([])
  })

  it.each(examples)('the example %s finds the intended events', async (query, finds) => {
    const all = await events('limit=1000')
    const found = await events(`limit=1000&${query}`)
    expect(found.length).toBeGreaterThan(0)
    expect(found).toEqual(all.filter(({ attributes }) => finds(attributes)))
  })

  it('the example filter[created_at_lt] finds older events', async () => {
    const all = await events('limit=1000')
    const time = timeOf(all[3])
    expect(await events(`filter[created_at_lt]=${time}`)).toEqual(all.slice(0, 3))
  })

  it('only some event types carry the attributes of requests', async () => {
    for (const name of ['request_body_action', 'url_params_project_code', 'parent_code', 'name']) {
      expect(await events(`filter[${name}_not_null]=1`)).not.toEqual([])
      expect(await events(`filter[${name}_null]=1`)).not.toEqual([])
    }
  })

  it('a project is a resource with id, code, name, description and archived', async () => {
    const [project] = listOf(await send('/api/projects?filter[code_eq]=acme')).data
    expect(project).toEqual({
      type: 'project',
      id: expect.stringMatching(UUID),
      attributes: {
        code: 'acme',
        name: expect.any(String),
        description: expect.any(String),
        archived: false,
      },
      relationships: {
        environments: { links: { related: '/api/projects/acme/environments' } },
        events: { links: { related: '/api/events?filter[url_params_project_code_eq]=acme' } },
      },
      links: { self: '/api/projects/acme' },
    })
    for (const related of Object.values(project!.relationships as unknown as Related))
      expect(listOf(await send(related.links.related)).data.length).toBeGreaterThan(0)
  })

  it.each(lists)('%s is filtered and sorted by id and by every attribute', async (path) => {
    const response = await send(path)
    expect([response.status, response.headers['content-type']]).toEqual([200, JSON_API])
    const { data } = listOf(response)
    expect(data.length).toBeGreaterThan(0)
    const list = async (query: string): Promise<readonly Resource[]> => {
      const response = await send(`${path}?${spaced(query)}`)
      expect(response.status, response.body).toBe(200)
      return listOf(response).data
    }
    const [first] = data
    expect(await list(`filter[id_eq]=${first!.id}`)).toEqual([first])
    expect(await list(`filter[id_not_eq]=${first!.id}`)).toEqual(data.slice(1))
    for (const [name, value] of Object.entries(first!.attributes)) {
      const isNothing = typeof value === 'object' && Object.keys(value ?? {}).length === 0
      const nothing = await list(`filter[${name}_null]=1`)
      expect(
        nothing.some(({ id }) => id === first!.id),
        name,
      ).toBe(isNothing)
      if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
        expect(await list(`filter[${name}_eq]=${encodeURIComponent(value)}`)).toContainEqual(first)
      expect(await list(`filter[sorts]=${name} desc`)).toHaveLength(data.length)
    }
  })

  it('/api/properties_versions is the only list without filters and sorts', async () => {
    expect((await send('/api/properties_versions')).status).toBe(200)
    for (const parameter of ['filter[id_eq]', 'filter[sorts]', 'filter[m]']) {
      const response = await send(`/api/properties_versions?${parameter}=id`)
      expect([response.status, errorOf(response).source]).toEqual([400, { parameter }])
    }
  })
})

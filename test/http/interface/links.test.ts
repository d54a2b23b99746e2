import { describe, expect, it } from 'vitest'
import { memoryPlace, sqlitePlace } from '../../support/event-stores.js'
import { expectError } from '../../support/expect-error.js'
import { newEvent } from '../../support/http.js'
import { clientOf, type Resource, resourceOf, useDemo, useServer } from '../../support/host.js'

/* The interface, "Link attributes": each row of its table, and the target of the link. */

const ID = '0196b3c2-1111-4222-8333-444455556666'
const ENVIRONMENT = '/projects/acme/environments/prod'
const ASSET = `${ENVIRONMENT}/assets/web`

/** The table, in its order. */
const links = [
  ['Project', 'project_path', '/projects/acme', '/api/projects/acme'],
  ['Project', 'node_path', '/projects/acme', '/api/projects/acme'],
  ['Project', 'project_id', ID, `/api/projects/${ID}`],
  ['Environment', 'node_path', ENVIRONMENT, `/api${ENVIRONMENT}`],
  ['Environment', 'node_id', ID, `/api/nodes/${ID}`],
  ['Asset', 'node_path', ASSET, `/api${ASSET}`],
  ['Asset', 'node_id', ID, `/api/nodes/${ID}`],
  ['Scheduled change', 'scheduled_change_id', ID, `/api/scheduled_changes/${ID}`],
  ['Change', 'change_id', ID, `/api/changes/${ID}`],
  ['Step', 'step_id', ID, `/api/steps/${ID}`],
  ['Workflow step', 'workflow_step_id', ID, `/api/workflow_steps/${ID}`],
  ['Workflow run', 'workflow_run_id', ID, `/api/workflow_runs/${ID}`],
  ['Bookmark', 'bookmark_id', ID, `/api/bookmarks/${ID}`],
  ['Template', 'template_id', ID, `/api/templates/${ID}`],
  ['Template version', 'template_version_id', ID, `/api/template_versions/${ID}`],
  ['Git remote', 'git_remote_id', ID, `/api/git_remotes/${ID}`],
  ['Properties', 'properties_id', ID, `/api/properties/${ID}`],
  ['Properties version', 'properties_version_id', ID, `/api/properties_versions/${ID}`],
  ['Settings', 'settings_id', ID, `/api/settings/${ID}`],
  ['Settings version', 'settings_version_id', ID, `/api/settings_versions/${ID}`],
] as const

/** Values that do not have the required form. */
const refused = [
  ...[...new Set(links.map(([, attribute]) => attribute))]
    .filter((attribute) => attribute.endsWith('_id'))
    .map((attribute) => [attribute, 'not-a-uuid'] as const),
  ['step_id', true],
  ['project_path', 'acme'],
  ['project_path', '/projects/..'],
  ['project_path', ENVIRONMENT],
  ['node_path', '/projects'],
  ['node_path', '/projects/acme/assets/web'],
  ['node_path', `${ASSET}/`],
] as const

describe('Link attributes', () => {
  const server = useServer(memoryPlace)
  const { events } = clientOf(() => server().url)

  it.each(links)('a %s is linked by %s %s', async (target, attribute, value, source) => {
    const type = `linked:to:${target}:${attribute}`
    const response = await server().send('/api/events', newEvent({ type, [attribute]: value }))
    expect(response.status, response.body).toBe(201)
    const [event] = await events(
      `filter[type_eq]=${encodeURIComponent(type)}&filter[${attribute}_eq]=${value}`,
    )
    expect(event!.relationships).toEqual({ source: { links: { source } } })
    expect(event!.attributes[attribute]).toBe(value)
  })

  it.each(refused)('%s %s is refused: it has another form', async (attribute, value) => {
    const response = await server().send(
      '/api/events',
      newEvent({ type: 'refused', [attribute]: value }),
    )
    expectError(response, 422, 'INVALID_LINK', { pointer: `/data/attributes/${attribute}` })
    expect(await events('filter[type_eq]=refused')).toEqual([])
  })
})

describe('Links to data of a service', () => {
  const demo = useDemo(sqlitePlace)
  const { send, events, write } = clientOf(() => demo().url)

  const link = async (attributes: Record<string, unknown>): Promise<Resource> => {
    const response = await send('/api/events', newEvent({ type: 'linked', ...attributes }))
    expect(response.status, response.body).toBe(201)
    const [event] = await events('filter[type_eq]=linked&limit=1')
    return event!
  }

  it.each([{ project_path: '/projects/acme' }, { node_path: ENVIRONMENT }, { node_path: ASSET }])(
    '%j leads to the resource',
    async (attributes) => {
      const { relationships } = await link(attributes)
      const [value] = Object.values(attributes)
      expect(relationships!.source.links.source).toBe(`/api${value}`)
      expect((await send(relationships!.source.links.source)).status).toBe(200)
    },
  )

  it('an id leads to the resource that has it', async () => {
    const attributes = { name: 'look here', path: '/projects/acme' }
    const { id } = resourceOf(await write('POST', '/api/bookmarks', 'bookmark', attributes))
    const { relationships } = await link({ bookmark_id: id })
    const linked = resourceOf(await send(relationships!.source.links.source))
    expect([linked.type, linked.id]).toEqual(['bookmark', id])
  })

  it.each([
    ['project_path', '/projects/none'],
    ['node_path', `${ENVIRONMENT}/assets/none`],
    ['change_id', ID],
  ])('%s %s is refused: it does not exist', async (attribute, value) => {
    const response = await send('/api/events', newEvent({ type: 'lost', [attribute]: value }))
    expectError(response, 422, 'INVALID_LINK', { pointer: `/data/attributes/${attribute}` })
    expect(await events('filter[type_eq]=lost')).toEqual([])
  })
})

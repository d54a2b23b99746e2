import { readdirSync, readFileSync } from 'node:fs'
import { splitEventType } from 'daybook'
import { workflowEventTypes } from 'daybook/workflow'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startService } from '../../examples/workflow-service/app.js'
import { tempDir } from '../support/temp.js'
import { activities, faults, workflows } from './story/activities.js'
import { agents, cleaning, images } from './story/agents.js'
import { assetModels } from './story/asset-models.js'
import { authorisation, logs, secrets, sites, slots } from './story/administration.js'
import { autoscaler } from './story/autoscaler.js'
import { retries, runnerPods } from './story/changes.js'
import { directory } from './story/directory.js'
import { gitRemotes } from './story/git-remotes.js'
import { resources } from './story/resources.js'
import { schedules } from './story/schedules.js'
import { statistics } from './story/statistics.js'
import { templates } from './story/templates.js'
import { createWorld, type Story, type World } from './story/world.js'

/* Every type of the catalogue is recorded by the part of the demo that does its work. */

/** Types of the log that come with subscriptions. */
const MISSING = Object.entries(workflowEventTypes)
  .filter(([, { area }]) => area === 'Events and notifications')
  .map(([type]) => type)

const STORIES: readonly (readonly [about: string, story: Story])[] = [
  ['projects, nodes, bookmarks, settings and properties', resources],
  ['workflows', workflows],
  ['changes and workflow runs', activities],
  ['authorisation', authorisation],
  ['secrets', secrets],
  ['sites', sites],
  ['resource slots', slots],
  ['logs of steps', logs],
  ['approvers of an LDAP directory', directory],
  ['schedules', schedules],
  ['Git remotes', gitRemotes],
  ['image builds', images],
  ['agents', agents],
  ['cleaning', cleaning],
  ['template versions', templates],
  ['models of assets', assetModels],
  ['retries of changes', retries],
  ['runner pods', runnerPods],
  ['API workers', autoscaler],
  ['a locked database and a restart', faults],
  ['statistics', statistics],
]

/** Short times, so that the run takes seconds. */
const timings = {
  write: 150,
  transition: 100,
  systemError: 100,
  refresh: 1000,
  takeOver: 1000,
  schedule: 20,
  jobCheck: 50,
  jobInterval: 100,
  jobClaim: 20,
  slotPoll: 100,
  configuration: 20,
  ldapRefresh: 60_000,
  gitFetch: 200,
  autoscaler: 20,
  gitSummary: 500,
  followRevisions: 100,
}

const temp = tempDir()
const printed = vi.spyOn(console, 'error').mockImplementation(() => {})
let world: World & { close(): Promise<void> }

beforeAll(async () => {
  const store = { kind: 'sqlite', filename: temp.file('daybook.db') } as const
  const overrides = { region: 'south' }
  world = await createWorld(temp, () =>
    startService({ port: 0, store, traffic: false, overrides, timings }),
  )
})
afterAll(async () => {
  await world.close()
  temp.remove()
  const lost = printed.mock.calls.filter(([text]) => String(text).includes('was not recorded'))
  printed.mockRestore()
  expect(lost).toEqual([])
})

it('the stories only send requests and change the surroundings', () => {
  const folder = new URL('story/', import.meta.url)
  for (const file of readdirSync(folder))
    expect(readFileSync(new URL(file, folder), 'utf8'), file).not.toMatch(
      /AuditLog|EventStore|\b(record\w*|importEvents|append\w*)\(/,
    )
})

it.each(STORIES)('%s', (_about, story) => story(world))

it('all types except those of e-mail and notifications are recorded', async () => {
  const seen = await world.types()
  const missing = Object.keys(workflowEventTypes).filter((type) => !seen.has(type))
  expect(missing).toEqual(MISSING)
})

/** The subjects of `api:` events that have no resource. */
const NO_RESOURCE = new Set(['job', 'ldap_refresh', 'resource_slot_freed_listener'])

it('each event about a resource has its source', async () => {
  const unsourced = await world.types('&filter[source_null]=1')
  const ofResources = Object.keys(workflowEventTypes).filter((type) => {
    const { level, subject } = splitEventType(type)
    return level === 'api' && !NO_RESOURCE.has(subject)
  })
  ofResources.push('error:scheduled_workflows:workflow_run_creation')
  ofResources.push('warning:scheduled_activity:skipped')
  expect(ofResources.filter((type) => unsourced.has(type))).toEqual([])
})

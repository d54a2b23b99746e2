import { join } from 'node:path'
import { makeSampleRepository } from '../git/git.js'
import type { Service } from '../service.js'
import { type Client, createClient } from './client.js'
import { doSomething, type Scenario } from './scenarios.js'

const FETCH_EVERY_MS = 45_000
const SCHEDULE = 'health check every minute'
const SAMPLE = 'sample'

/** Runs scenarios of simulated users, one after the other, until the service stops. */
export function startTraffic({ background, git, workspace }: Service, url: string): void {
  const client = createClient(url, background.stopping)

  const attempt = (scenario: Scenario) => async (): Promise<void> => {
    try {
      await scenario(client)
    } catch (error) {
      if (!background.stopping.aborted) console.error('a simulated user failed:', error)
    }
  }

  background.repeat(0, attempt(doSomething))
  background.run(attempt(createSchedule))
  if (!git) return
  background.run(
    attempt(async () => {
      const repository = join(workspace, 'sample')
      await makeSampleRepository(git, repository)
      const ids = await prepareTemplate(client, repository)
      const fetch = attempt(() => fetchTemplate(client, ids))
      await fetch()
      background.repeat(FETCH_EVERY_MS, fetch)
    }),
  )
}

async function createSchedule(client: Client): Promise<void> {
  const there = await client.list('/api/scheduled_changes')
  if (there.some(({ attributes }) => attributes['name'] === SCHEDULE)) return
  await client.send('ann', 'POST /api/scheduled_changes', 'scheduled_change', {
    name: SCHEDULE,
    every_seconds: 60,
    change: {
      name: 'check the service',
      action: 'check',
      node_path: '/projects/acme/environments/prod',
      steps: [{ name: 'read the project', action: 'http_check', path: '/api/projects/acme' }],
    },
  })
}

interface TemplateIds {
  readonly template: string
  readonly remote: string
}

const isSample = ({ attributes }: { attributes: Readonly<Record<string, unknown>> }): boolean =>
  attributes['name'] === SAMPLE

/** Every start creates a new sample repository; an existing remote is changed to point to it. */
async function prepareTemplate(client: Client, url: string): Promise<TemplateIds> {
  const old = (await client.list('/api/git_remotes')).find(isSample)
  const request = old ? `PATCH /api/git_remotes/${old.id}` : 'POST /api/git_remotes'
  const remote = await client.send('ann', request, 'git_remote', { name: SAMPLE, url })
  const template =
    (await client.list('/api/templates')).find(isSample) ??
    (await client.send('ann', 'POST /api/templates', 'template', { name: SAMPLE }))
  if (!remote || !template) throw new Error('the sample template could not be created')
  return { template: template.id, remote: remote.id }
}

/** Fetches a version; sometimes of a revision that does not exist. */
async function fetchTemplate(client: Client, { template, remote }: TemplateIds): Promise<void> {
  const path = `/api/templates/${template}/template_versions`
  await client.send('bob', `POST ${path}`, 'template_version', {
    git_remote_id: remote,
    revision: Math.random() < 0.85 ? 'main' : 'next',
  })
}

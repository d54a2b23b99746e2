import type { Client, Found, User } from './client.js'

/** One complete task of simulated users. */
export type Scenario = (client: Client) => Promise<void>

const CHANGES = '/api/changes'
const PROD = '/projects/acme/environments/prod'
const KEPT_CHANGES = 40
const KEPT_PROJECTS = 6

const pick = <T>(choices: readonly T[]): T => choices[Math.floor(Math.random() * choices.length)]!
const code = (prefix: string): string => `${prefix}-${Date.now().toString(36)}`
const randomEditor = (): User => pick(['ann', 'bob'])

async function startChange(
  client: Client,
  name: string,
  steps: readonly object[],
): Promise<{ id: string; stepIds: readonly string[] } | undefined> {
  const user = randomEditor()
  const attributes = { name, action: name.split(' ')[0], node_path: PROD, steps }
  const change = await client.send(user, `POST ${CHANGES}`, 'change', attributes)
  if (!change) return undefined
  await client.send(user, `POST ${CHANGES}/${change.id}/start`)
  return { id: change.id, stepIds: change.attributes['step_ids'] as string[] }
}

const deploy: Scenario = async (client) => {
  await startChange(client, 'deploy the web server', [
    {
      name: 'write the release notes',
      action: 'write_file',
      path: 'notes.txt',
      content: code('v'),
    },
    { name: 'compute the checksum', action: 'checksum', path: 'notes.txt' },
    { name: 'check that the project exists', action: 'http_check', path: '/api/projects/acme' },
    { name: 'wait', action: 'wait', ms: 500 },
  ])
}

const failingCheck: Scenario = async (client) => {
  await startChange(client, 'verify the web server', [
    { name: 'check the database', action: 'http_check', path: `/api${PROD}/assets/database` },
  ])
}

const approval: Scenario = async (client) => {
  const change = await startChange(client, 'release the web server', [
    { name: 'sign off', action: 'approval', requires_approval_from: ['ann'] },
    { name: 'roll out', action: 'wait', ms: 300 },
  ])
  if (!change) return
  const step = `/api/steps/${change.stepIds[0]}`
  if (Math.random() < 0.4) await client.send('eve', `POST ${step}/approve`)
  await client.send('ann', `POST ${step}/${pick(['approve', 'approve', 'reject'])}`)
}

const pauseAndResume: Scenario = async (client) => {
  const change = await startChange(client, 'migrate the database', [
    { name: 'copy', action: 'wait', ms: 4000 },
    { name: 'check the copy', action: 'manual' },
  ])
  if (!change) return
  const { id, stepIds } = change
  await client.send('bob', `POST ${CHANGES}/${id}/pause`, 'change', { message: 'lunch' })
  await client.send('bob', `POST ${CHANGES}/${id}/resume`, 'change', { message: 'back again' })
  for (let tries = 0; tries < 3; tries++) {
    const step = await client.send('bob', `GET /api/steps/${stepIds[1]}`)
    if (step?.attributes['status'] === 'waiting_for_input') break
  }
  await client.send('bob', `POST /api/steps/${stepIds[1]}/${pick(['continue', 'cancel'])}`)
}

const growProject: Scenario = async (client) => {
  const user = randomEditor()
  const attributes = { code: code('trial'), name: 'A trial' }
  const project = await client.send(user, 'POST /api/projects', 'project', attributes)
  if (!project) return
  const path = `/api/projects/${attributes.code}`
  await client.send(user, `POST ${path}/environments`, 'environment', { code: 'test' })
  await client.send(user, `PATCH ${path}`, 'project', { description: 'for trials' })
}

const writeEvent: Scenario = async (client) => {
  await client.send(pick(['ann', 'bob']), 'POST /api/events', 'Event', {
    type: 'linked:to:project:acme',
    name: pick(['deploy:note', 'review:note']),
    text: 'looks good so far',
    project_path: '/projects/acme',
  })
}

const readOnly: Scenario = async (client) => {
  await client.send('eve', 'GET /api/projects/acme')
  await client.send('eve', 'PATCH /api/projects/acme', 'project', { archived: true })
}

/** Keeps the data of the demo small. */
const cleanUp: Scenario = async (client) => {
  const isOver = ({ attributes }: Found) => attributes['finished_at'] !== null
  const changes = (await client.list(CHANGES)).filter(isOver)
  for (const { id } of changes.slice(0, -KEPT_CHANGES))
    await client.send('bob', `DELETE ${CHANGES}/${id}`)
  const isTrial = ({ attributes }: Found) => String(attributes['code']).startsWith('trial-')
  const projects = (await client.list('/api/projects')).filter(isTrial)
  for (const { attributes } of projects.slice(0, -KEPT_PROJECTS))
    await client.send('bob', `DELETE /api/projects/${String(attributes['code'])}`)
}

/** Frequent scenarios occur several times. */
const SCENARIOS: readonly Scenario[] = [
  deploy,
  deploy,
  deploy,
  approval,
  approval,
  pauseAndResume,
  growProject,
  growProject,
  writeEvent,
  writeEvent,
  failingCheck,
  readOnly,
]

export const doSomething: Scenario = async (client) => {
  await pick(SCENARIOS)(client)
  await cleanUp(client)
}

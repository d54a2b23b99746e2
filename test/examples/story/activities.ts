import { type Attributes, PROD, type Resource, type Story, stepsOf, type World } from './world.js'

const APPROVAL = { action: 'approval', requires_approval_from: ['ann'] }
const MANUAL = { action: 'manual' }
const WAIT = { action: 'wait', ms: 1 }
const LONG = { action: 'wait', ms: 60_000 }

const KINDS = [
  { activities: 'changes', steps: 'steps', id: 'change_id', stepId: 'step_id' },
  {
    activities: 'workflow_runs',
    steps: 'workflow_steps',
    id: 'workflow_run_id',
    stepId: 'workflow_step_id',
  },
] as const

type Names = (typeof KINDS)[number]

async function create(world: World, names: Names, steps: readonly Attributes[]) {
  if (names.activities === 'changes')
    return world.post('/api/changes', 'change', { name: 'change', node_path: PROD, steps })
  const workflow = await world.post('/api/workflows', 'workflow', { name: 'run', steps })
  return world.post('/api/workflow_runs', 'workflow_run', { workflow_id: workflow.id })
}

async function start(world: World, names: Names, steps: readonly Attributes[]): Promise<Resource> {
  const activity = await create(world, names, steps)
  await world.post(`/api/${names.activities}/${activity.id}/start`)
  return activity
}

async function waiting(world: World, names: Names, activity: Resource, status: string) {
  const path = `/api/${names.steps}/${stepsOf(activity)[0]}`
  await world.until(`a step that is ${status}`, async () => {
    return (await world.get(path)).attributes['status'] === status
  })
  return path
}

const storyOf =
  (names: Names): Story =>
  async (world) => {
    const { post, del, saw, refused } = world
    const base = `/api/${names.activities}`
    const ended = (activity: Resource, outcome: string): Promise<Resource> =>
      saw(`api:${names.activities}:${outcome}`, { [names.id]: activity.id })

    const good = await start(world, names, [WAIT])
    await ended(good, 'success')
    await del(`${base}/${good.id}`)
    await ended(await start(world, names, [{ action: 'fail' }]), 'error')

    for (const move of ['cancel', 'abort']) {
      const activity = await start(world, names, [LONG])
      await saw(`api:${names.steps}:start`, { [names.id]: activity.id })
      await post(`${base}/${activity.id}/pause`, 'move', { message: 'lunch' })
      await post(`${base}/${activity.id}/resume`, 'move', { message: 'back' })
      await post(`${base}/${activity.id}/${move}`)
      await saw(`api:${names.steps}:${move}`, { [names.id]: activity.id })
    }
    for (const decision of ['approve', 'reject']) {
      const activity = await start(world, names, [APPROVAL])
      const step = await waiting(world, names, activity, 'waiting_for_approval')
      await refused(403, `POST ${step}/${decision}`, undefined, 'bob')
      await refused(403, `POST ${step}/continue`)
      await post(`${step}/${decision}`)
      await ended(activity, decision === 'approve' ? 'success' : 'abort')
    }
    const manual = await start(world, names, [MANUAL])
    await post(`${await waiting(world, names, manual, 'waiting_for_input')}/continue`)
    await ended(manual, 'success')
  }

/** The id of a template version. */
async function versionId({ saw }: World): Promise<string> {
  const { attributes } = await saw('info:template_version:fetch_initialize')
  return String(attributes['template_version_id'])
}

const TARGETS = ['activities', 'jobs', 'agent_images', 'node_background_tasks']

const LOCKED = [
  'error:steps:transient_error',
  'api:assign_system_error_job:error',
  'error:step:fsm_failure',
  'api:job:error',
  'error:api:controller:unhandled',
  'error:template_version:refresh_cancelled',
  ...TARGETS.map((target) => `error:data_cleanup:${target}`),
]

/** Steps that lock the database. Each lock is longer than the one before, because a slow service may not notice a short one. */
function lockLonger(firstMs: number): () => Attributes {
  let ms = firstMs
  return () => {
    const step = { action: 'lock_database', ms }
    ms = Math.min(2 * ms, 10_000)
    return step
  }
}

/** Waits until the activity has ended. Resolves to true if it has failed. */
async function hasFailed({ until, has }: World, names: Names, { id }: Resource): Promise<boolean> {
  const isEnd = (outcome: string) => has(`api:${names.activities}:${outcome}`, { [names.id]: id })
  await until('the end of an activity', async () => (await isEnd('error')) || isEnd('success'))
  return isEnd('error')
}

/** Other programs lock the database, and the service stops while a step is running. */
export const faults: Story = async (world) => {
  const { saw, startChange, restart, post, attempt, until, has } = world
  const version = await versionId(world)
  const lock = lockLonger(900)
  await until('events of a locked database', async () => {
    const locked = await startChange('locks', [lock()])
    await saw('api:steps:start', { change_id: locked.id })
    const clean = (rule: string) => post('/api/cleaning_runs', 'cleaning_run', { rules: [rule] })
    await Promise.all([
      ...TARGETS.map(clean),
      attempt('DELETE /api/projects/acme/environments/dev'),
      attempt(`POST /api/template_versions/${version}/refresh/cancel`),
    ])
    if (!(await hasFailed(world, KINDS[0], locked))) return false
    const seen = await Promise.all(LOCKED.map((type) => has(type)))
    return !seen.includes(false)
  })
  const lockBriefly = lockLonger(300)
  await until('a failed transition', async () => {
    const run = await start(world, KINDS[1], [lockBriefly()])
    const failed = await hasFailed(world, KINDS[1], run)
    return failed && has('error:workflow_step:fsm_failure', { workflow_run_id: run.id })
  })
  const interrupted = await startChange('interrupted', [LONG])
  await saw('api:steps:start', { change_id: interrupted.id })
  await restart()
  await saw('error:step:processing', { change_id: interrupted.id })
}

export const activities: Story = async (world) => {
  for (const names of KINDS) await storyOf(names)(world)
}

export const workflows: Story = async ({ post, patch }) => {
  const workflow = await post('/api/workflows', 'workflow', { name: 'nightly', steps: [WAIT] })
  await patch(`/api/workflows/${workflow.id}`, 'workflow', { name: 'daily' })
}

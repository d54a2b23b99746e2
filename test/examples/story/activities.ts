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

/** A database that other processes lock, and steps whose process ends. */
export const faults: Story = async (world) => {
  const { saw, startChange, restart, post, refused } = world
  const [, runs] = KINDS
  const locked = await startChange('locks', [{ action: 'lock_database', ms: 900 }])
  await saw('api:assign_system_error_job:error', { change_id: locked.id })
  const targets = ['activities', 'jobs', 'agent_images', 'node_background_tasks']
  for (const rule of targets) await post('/api/cleaning_runs', 'cleaning_run', { rules: [rule] })
  await refused(503, 'POST /api/projects project', { code: 'late' })
  await saw('error:api:controller:unhandled', { response_status: '503' })
  await saw('api:job:error')
  for (const target of targets) await saw(`error:data_cleanup:${target}`)
  await saw('api:changes:error', { change_id: locked.id })
  const run = await start(world, runs, [{ action: 'lock_database', ms: 300 }])
  await saw('error:workflow_step:fsm_failure', { workflow_run_id: run.id })
  await saw('api:workflow_runs:error', { workflow_run_id: run.id })
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

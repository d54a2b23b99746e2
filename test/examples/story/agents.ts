import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Story, World } from './world.js'

const AGENTS = '/api/projects/acme/environments/prod/agents'

const recipe = (world: World, name: string, instructions: readonly string[], more = {}) =>
  world.post('/api/images', 'image', { name, instructions, ...more })

export const images: Story = async (world) => {
  const { post, set, saw, temp } = world
  const registry = temp.file('registry')
  await set({ image_registry: registry })
  const slow = await recipe(world, 'slow', ['wait 20'])
  const bad = await recipe(world, 'bad', ['fail no space'])
  for (const { id } of [slow, bad]) await post(`/api/images/${id}/build`)
  await saw('info:image_build:queued', { name: 'bad', queued_behind: '1' })
  await saw('info:image_build:completed', { name: 'slow' })
  await saw('info:image_build:failed', { name: 'bad', error: 'no space' })

  const lost = await recipe(world, 'lost', [], { context: temp.file('lost') })
  await post(`/api/images/${lost.id}/build`)
  await saw('warn:image_build:content_key_error', { name: 'lost' })
  await saw('info:image_build:completed', { name: 'lost' })

  // Another program damages the manifest in the registry.
  const { key } = (await world.get(`/api/images/${slow.id}`)).attributes
  await writeFile(join(registry, String(key), 'manifest.json'), 'damaged')
  await post(`/api/images/${slow.id}/build`)
  await saw('warn:image_build:required_check_error', { name: 'slow' })

  await mkdir(join(registry, 'unused'))
  await saw('info:registry_reconcile:summary')
  await writeFile(temp.file('no-directory'), '')
  await set({ image_registry: temp.file('no-directory') })
  await saw('error:registry_reconcile:failure')
  await set({ image_registry: registry, runner_base_image: temp.file('lost') })
  await saw('warn:runner_base_image_warm:failed')
  await set({ runner_base_image: temp.file('no-directory') })
  await saw('info:runner_base_image_warm:completed')
}

export const agents: Story = async (world) => {
  const { post, del, saw } = world
  const agent = async (code: string, instructions: readonly string[]) => {
    const { id } = await recipe(world, code, instructions)
    await post(AGENTS, 'agent', { code, image_id: id })
    await post(`${AGENTS}/${code}/start`)
  }
  await agent('steady', [])
  await saw('warn:agent:image_missing', { name: 'steady' })
  await saw('api:agent:started', { name: 'steady' })
  await post(`${AGENTS}/steady/stop`)
  await saw('api:agent:stopped', { name: 'steady' })
  await del(`${AGENTS}/steady`)
  await agent('broken', ['entry broken'])
  await saw('error:agent:start', { name: 'broken' })
  await agent('vanishing', ['entry vanish'])
  await saw('api:agent:started', { name: 'vanishing' })
  await world.until('an agent that has vanished', async () => {
    await post(`${AGENTS}/vanishing/stop`)
    return world.has('error:agent:stop')
  })
  await agent('unbuilt', ['fail no space'])
  await saw('error:build_agent_image_task:build', { name: 'unbuilt' })
}

/** Runs after the stories of agents, because it needs their recipes and tasks. */
export const cleaning: Story = async (world) => {
  const { post, set, saw, temp } = world
  const clean = (...rules: readonly string[]) =>
    post('/api/cleaning_runs', 'cleaning_run', { rules })
  const targets = ['activities', 'jobs', 'agent_images', 'node_background_tasks']
  await set(Object.fromEntries(targets.map((target) => [`clean_${target}_seconds`, 0])))
  await recipe(world, 'unused', [])
  await saw('api:images:create', { name: 'unused' })
  await clean(...targets)
  for (const target of targets) await saw(`info:data_cleanup:${target}`)

  const trials = async (): Promise<void> => {
    for (let n = 0; n < 22; n++) await post('/api/events', 'Event', { type: `trial:${n}` })
  }
  await trials()
  await writeFile(temp.file('file'), '')
  await set({ event_archive: join(temp.file('file'), 'archive') })
  await clean('trials')
  await saw('error:data_cleanup:events')
  await rm(temp.file('file'))
  await clean('trials')
  await saw('info:data_cleanup:events')
}

import type { Story } from './world.js'

const POD = { action: 'run_in_pod', ms: 1 }

export const retries: Story = async ({ post, set, saw, startChange }) => {
  await set({ colour: 'red' })
  const steps = [{ action: 'fail' }]
  const settings = { colour: 'blue', ghost: 1 }
  const change = await startChange('deploy', steps, { settings })
  const about = { change_id: change.id }
  await saw('api:changes:error', about)
  await post(`/api/changes/${change.id}/retry`, 'change', { latest_revision: true })
  await saw('api:changes:retry_settings_pruned', { ...about, dropped_settings: 'ghost' })
  await saw('warn:changes:catalog_not_refreshed', { ...about, catalog_request_status: 'missing' })
}

export const runnerPods: Story = async ({ post, set, saw, startChange }) => {
  await set({ runner_grace_ms: 1 })
  const stubborn = await startChange('stubborn', [{ ...POD, stubborn: true }])
  await saw('error:change_worker:delete', { change_id: stubborn.id })
  const running = await startChange('running', [POD, { action: 'wait', ms: 60_000 }])
  await saw('api:steps:success', { change_id: running.id })
  await set({ runner_grace_ms: 'soon' })
  await post(`/api/changes/${running.id}/cancel`)
  await saw('api:change_listener:error', { change_id: running.id })
  await set({ runner_grace_ms: 1 })
}

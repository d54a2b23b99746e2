import type { Story } from './world.js'

export const autoscaler: Story = async ({ post, set, saw, until, has }) => {
  const report = (wait_ms: number, keep_mb = 0) =>
    post('/api/reports', 'report', { text: 'sales', wait_ms, keep_mb })
  /** Sends more reports than one worker can compute, until the event occurs. */
  const under = (type: string, keep_mb = 0) =>
    until(type, async () => {
      await Promise.allSettled([report(200, keep_mb), report(200), report(200)])
      return has(type)
    })

  await set({ api_backlog_high: 1, api_max_workers: 2, database_spare_connections: 0 })
  await under('warn:api_autoscaler:grow_blocked_connections')
  await set({ database_spare_connections: 10, pod_memory_limit_mb: 1 })
  await under('warn:api_autoscaler:grow_blocked_memory')
  await set({ api_backlog_high: 'high' })
  await saw('error:api_autoscaler:tick_failed')
  // One large worker and one small worker fit into the memory, but only just.
  await set({ api_backlog_high: 1, pod_memory_limit_mb: 290 })
  await under('warn:api_autoscaler:worker_killed_memory', 200)
  await saw('info:api_autoscaler:grow')
  await saw('info:api_autoscaler:shrink')
}

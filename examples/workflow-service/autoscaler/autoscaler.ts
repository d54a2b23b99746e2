import type { Child } from '../children/child.js'
import { failureData } from '../notes.js'
import type { Service } from '../service.js'

const MEGABYTE = 1 << 20
/** Requirements of a new worker. */
const WORKER_BYTES = 10 * MEGABYTE
/** A pod that uses this part of its memory is near its limit. */
const NEAR = 0.9
/** A worker is too large if it uses this many times what the others use. */
const TOO_LARGE = 2

interface Memory {
  readonly worker: Child
  readonly rss: number
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/**
 * Adds and removes API workers. The settings `api_backlog_high`, `api_max_workers`,
 * `database_spare_connections`, and `pod_memory_limit_mb` are its bounds.
 */
export function startAutoscaler(service: Service): void {
  const { note, settings, background, timings, workers } = service

  const grow = async (used: number, limit: number): Promise<void> => {
    const facts = { worker_count: workers.all().length, backlog: workers.backlog() }
    if (settings.number('database_spare_connections', 10) < 1)
      await note('warn:api_autoscaler:grow_blocked_connections', facts)
    else if (used + WORKER_BYTES > limit)
      await note('warn:api_autoscaler:grow_blocked_memory', facts)
    else {
      await workers.add()
      await note('info:api_autoscaler:grow', facts)
    }
  }

  const killLarge = async (memories: readonly Memory[], used: number, limit: number) => {
    if (used < limit * NEAR) return
    for (const { worker, rss } of memories) {
      const others = memories.filter((other) => other.worker !== worker)
      const baseline_rss = median(others.map((other) => other.rss))
      if (others.length === 0 || rss < baseline_rss * TOO_LARGE) continue
      workers.remove(worker)
      await workers.add()
      const sizes = { worker_rss: rss, baseline_rss, container_anon: used, container_limit: limit }
      await note('warn:api_autoscaler:worker_killed_memory', sizes)
      return
    }
  }

  const tick = async (): Promise<void> => {
    const count = workers.all().length
    if (count === 0) return
    const memories = await Promise.all(
      workers.all().map(async (worker) => ({ worker, rss: Number(await worker.call('memory')) })),
    )
    const used = memories.reduce((sum, { rss }) => sum + rss, 0)
    const limit = settings.number('pod_memory_limit_mb', 4096) * MEGABYTE
    await killLarge(memories, used, limit)
    const isHigh = workers.backlog() >= settings.number('api_backlog_high', 2)
    if (isHigh && count < settings.number('api_max_workers', 4)) await grow(used, limit)
    const [idle] = workers.idle()
    if (workers.backlog() > 0 || count < 2 || !idle) return
    workers.remove(idle)
    await note('info:api_autoscaler:shrink', { worker_count: count - 1 })
  }

  background.repeat(timings.autoscaler, () =>
    tick().catch(async (error: unknown) => {
      if (!background.stopping.aborted)
        await note('error:api_autoscaler:tick_failed', failureData(error))
    }),
  )
}

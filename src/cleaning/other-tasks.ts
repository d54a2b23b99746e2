import { AuditLogError, untilAborted } from '../errors.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { subtract } from '../event/duration.js'
import type { HostRemoved, HostRule } from './rule.js'
import type { Job, Task } from './task.js'

export const statisticsTask: Task = {
  async run({ store, totals, signal }) {
    const analysis = await store.analyze?.({ signal })
    const skipped_reason = `the ${store.name} store has no query planner`
    totals.analysis = analysis ?? { analyzed_tables: [], skipped_reason }
  },

  async preview() {
    return { due_count: 0 }
  },
}

/** Calls the host's function. */
export function hostTask({ run, maxAge }: Pick<HostRule, 'run' | 'maxAge'>): Task {
  const beforeAt = (now: Microseconds): string | undefined =>
    maxAge && formatTimestamp(Math.max(0, subtract(now, maxAge)))

  /** Returns the number of removed things, in a preview the number of things that a run would remove. */
  const call = async (job: Job, preview: boolean): Promise<number> => {
    const { totals, signal } = job
    const before = beforeAt(job.now)
    if (before !== undefined) totals.before = before
    const progress = (removed: number): void => {
      totals.removed_count = removed
      job.progress()
    }
    const running = run({ before, preview, signal, progress: preview ? () => {} : progress })
    const result = await untilAborted(Promise.resolve(running), signal)
    const done: Partial<HostRemoved> =
      typeof result === 'number' ? { removed_count: result } : Object(result)
    const { removed_count, filters } = done
    // The host may not use TypeScript.
    if (!Number.isSafeInteger(removed_count) || removed_count! < 0)
      throw new AuditLogError('INVALID_OPTION', 'run must resolve to the number of removed things')
    if (filters) totals.filters = filters
    return removed_count!
  }

  return {
    async run(job) {
      if (!job.ageWaits) job.totals.removed_count = await call(job, false)
    },

    async preview(job) {
      if (job.ageWaits) return { due_count: 0 }
      const due_count = await call(job, true)
      return { due_count, ...(job.totals.before !== undefined && { before: job.totals.before }) }
    },
  }
}

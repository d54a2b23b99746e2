import { AuditLogError, untilAborted } from '../errors.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { subtract } from '../event/duration.js'
import type { HostRemoved, HostRule } from './rule.js'
import type { Job, Task } from './task.js'

export const statisticsTask: Task = {
  async run({ store, tally, signal }) {
    const analysis = await store.analyze?.({ signal })
    const skipped_reason = `the ${store.name} store has no query planner`
    tally.analysis = analysis ?? { analyzed_tables: [], skipped_reason }
  },

  async preview() {
    return { due_count: 0 }
  },
}

/** Leaves the work to the host's function. */
export function hostTask({ run, maxAge }: Pick<HostRule, 'run' | 'maxAge'>): Task {
  const beforeAt = (now: Microseconds): string | undefined =>
    maxAge && formatTimestamp(Math.max(0, subtract(now, maxAge)))

  /** Gives how many have been, or would be, removed. */
  const call = async (job: Job, preview: boolean): Promise<number> => {
    const { tally, signal } = job
    const before = beforeAt(job.now)
    if (before !== undefined) tally.before = before
    const progress = (removed: number): void => {
      tally.removed_count = removed
      job.progress()
    }
    const running = run({ before, preview, signal, progress: preview ? () => {} : progress })
    const given = await untilAborted(Promise.resolve(running), signal)
    const done: Partial<HostRemoved> =
      typeof given === 'number' ? { removed_count: given } : Object(given)
    const { removed_count, filters } = done
    // The types are a promise of the host's.
    if (!Number.isSafeInteger(removed_count) || removed_count! < 0)
      throw new AuditLogError('INVALID_OPTION', 'run must give how many it has removed')
    if (filters) tally.filters = filters
    return removed_count!
  }

  return {
    async run(job) {
      job.tally.removed_count = await call(job, false)
    },

    async preview(job) {
      const due_count = await call(job, true)
      return { due_count, ...(job.tally.before !== undefined && { before: job.tally.before }) }
    },
  }
}

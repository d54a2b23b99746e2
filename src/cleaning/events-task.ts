import type { KeptBounds } from '../store/store.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import type { ArchiveTarget } from './archive-target.js'
import { dueBefore } from './due.js'
import { type Duration, subtract } from '../event/duration.js'
import type { Filter } from './filters.js'
import { previewAll, previewSelected, removeAll, removeSelected } from './remove-events.js'
import { removeSealed } from './remove-sealed.js'
import { mayMatch } from './scan.js'
import type { Job, Task } from './task.js'

/** The checked members of an events rule. */
export interface Bounds {
  readonly filter: Filter | undefined
  readonly maxAge: Duration | undefined
  readonly maxRows: number | undefined
  readonly maxBytes: number | undefined
}

export function eventsTask(bounds: Bounds, archive: ArchiveTarget | undefined): Task {
  const { filter } = bounds
  // Removal by age waits for deliveries. Removal by size does not wait, because a full disk would be worse than a
  // recorded gap.
  const boundsAt = async ({ now, ageWaits, undelivered, signal }: Job): Promise<KeptBounds> => {
    const maxAge = ageWaits ? undefined : bounds.maxAge
    const from = maxAge && Math.max(0, subtract(now, maxAge))
    return {
      from: from === undefined ? undefined : await undelivered.spareFrom(from, { now, signal }),
      rows: bounds.maxRows,
      bytes: bounds.maxBytes,
    }
  }
  const dueTime = async (job: Job): Promise<Microseconds> =>
    dueBefore(job.store, filter, await boundsAt(job), { signal: job.signal })

  return {
    async run(job) {
      const holds = await job.holds()
      const sealed = await job.sealed(holds)
      // A removal that is signed does not rely on the clock of the database.
      const before = await dueTime(sealed ? { ...job, now: Math.min(job.now, sealed.now) } : job)
      if (before === 0) return
      job.totals.before = formatTimestamp(before)
      const { signal } = job
      const losses = await job.undelivered.lossesOf({ before, where: filter?.where }, { signal })
      // With holds each event is checked, because an event that is imported during the run may be on hold.
      const isAll = filter === undefined && archive === undefined && holds.length === 0
      if (sealed) await removeSealed(job, { filter, holds, before }, archive, sealed)
      else if (isAll) await removeAll(job, before)
      else await removeSelected(job, { filter, holds, before }, archive)
      for (const loss of losses) await job.record('warn:subscription:gap', loss)
    },

    async preview(job) {
      const { store, signal } = job
      const holds = await job.holds()
      const before = await dueTime(job)
      if (before === 0) return { due_count: 0, oldest_due: null, newest_due: null }
      const isAll = filter === undefined && !(await mayMatch(store, holds, before, { signal }))
      return isAll ? previewAll(job, before) : previewSelected(job, { filter, holds, before })
    },
  }
}

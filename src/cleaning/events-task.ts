import type { Duration } from 'date-fns'
import { throwIfAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { TimeoutSignal } from '../async/timeout-signal.js'
import type { KeptBounds } from '../store/store.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { openArchive } from './archive.js'
import { dueBefore, openIds } from './due.js'
import { subtract } from '../event/duration.js'
import type { Filter, Holds } from './filters.js'
import type { ArchiveEvents } from './rule.js'
import { mayMatch, scan } from './scan.js'
import type { Job, Preview, Task } from './task.js'

// So long a run that was given up waits for the store to remove the page that it was at.
const LATE_MS = 5000

/** What an events rule says, read. */
export interface Bounds {
  readonly filter: Filter | undefined
  readonly maxAge: Duration | undefined
  readonly maxRows: number | undefined
  readonly maxBytes: number | undefined
}

export function eventsTask(bounds: Bounds, archive: string | ArchiveEvents | undefined): Task {
  const { filter } = bounds
  const boundsAt = (now: Microseconds): KeptBounds => ({
    from: bounds.maxAge && Math.max(0, subtract(now, bounds.maxAge)),
    rows: bounds.maxRows,
    bytes: bounds.maxBytes,
  })

  /** Those of the due events that may go, in pages from the oldest on. */
  async function* removable(
    { store, signal }: Job,
    holds: Holds,
    before: Microseconds,
  ): AsyncGenerator<readonly AuditEvent[], void, void> {
    // Asked once the bound is known: what is opened later comes after it, and what closes meanwhile is
    // met in two states, of which the archive must not take the first.
    const open = await openIds(store, { signal })
    const isFree = (event: AuditEvent): boolean =>
      !open.has(event.id) && !holds.some((hold) => hold.matches(event))
    for await (const events of scan(store, { direction: 'asc', filter, before, signal })) {
      const free = events.filter(isFree)
      if (free.length > 0) yield free
    }
  }

  const removeEach = async (job: Job, holds: Holds, before: Microseconds): Promise<void> => {
    const { store, tally, signal } = job
    const archived = archive === undefined ? undefined : openArchive(archive, job.rule, signal)
    try {
      for await (const events of removable(job, holds, before)) {
        if (archived) {
          await archived.add(events)
          tally.archived_count = (tally.archived_count ?? 0) + events.length
          if (archived.file !== undefined) tally.archive_file = archived.file
        }
        throwIfAborted(signal)
        // Not aborted half-way where the store answers, so that it is known how many have gone.
        using late = sometimeAfter(signal)
        const ids = events.map((event) => event.id)
        tally.removed_count += await store.remove(ids, { signal: late.signal })
        job.progress()
      }
    } finally {
      await archived?.close()
    }
  }

  const removeAll = async (
    { store, tally, signal, progress }: Job,
    before: Microseconds,
  ): Promise<void> => {
    const onProgress = (removed: number): void => {
      tally.removed_count = removed
      progress()
    }
    tally.removed_count = await store.removeBefore(before, { signal, onProgress })
  }

  const previewAll = async ({ store, signal }: Job, before: Microseconds): Promise<Preview> => {
    const open = await openIds(store, { signal })
    const first = async (direction: 'asc' | 'desc'): Promise<string | null> => {
      for await (const events of scan(store, { direction, before, signal })) {
        const closed = events.find(({ id }) => !open.has(id))
        if (closed) return closed.created_at
      }
      return null
    }
    return {
      due_count: (await store.excess({ from: before }, { signal })).count,
      oldest_due: await first('asc'),
      newest_due: await first('desc'),
      before: formatTimestamp(before),
    }
  }

  return {
    async run(job) {
      const { store, tally, signal } = job
      const holds = await job.holds()
      const before = await dueBefore(store, filter, boundsAt(job.now), { signal })
      if (before === 0) return
      tally.before = formatTimestamp(before)
      const isWhole = filter === undefined && archive === undefined
      // With holds each event is looked at: what is imported meanwhile may be on hold.
      if (isWhole && holds.length === 0) await removeAll(job, before)
      else await removeEach(job, holds, before)
    },

    async preview(job) {
      const { store, signal } = job
      const holds = await job.holds()
      const before = await dueBefore(store, filter, boundsAt(job.now), { signal })
      let due: Preview = { due_count: 0, oldest_due: null, newest_due: null }
      if (before === 0) return due
      if (filter === undefined && !(await mayMatch(store, holds, before, { signal })))
        return previewAll(job, before)
      for await (const events of removable(job, holds, before)) {
        due = {
          due_count: due.due_count + events.length,
          oldest_due: due.oldest_due ?? events[0]!.created_at,
          newest_due: events.at(-1)!.created_at,
        }
      }
      return { ...due, before: formatTimestamp(before) }
    },
  }
}

/** Ends a while after the signal, which has not aborted yet. */
function sometimeAfter(signal: AbortSignal): TimeoutSignal {
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    timer = setTimeout(() => late.abort(signal.reason), LATE_MS)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    signal: late.signal,
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

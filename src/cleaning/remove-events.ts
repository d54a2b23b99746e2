import { DISPOSE } from '../async/disposal.js'
import { throwIfAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import { openArchive } from './archive.js'
import { archiveRanges } from './archive-ranges.js'
import type { ArchiveTarget } from './archive-target.js'
import { openIds } from './due.js'
import type { Filter, Holds } from './filters.js'
import { scan } from './scan.js'
import type { Job, Preview } from './task.js'

// Time that the store gets to remove the current page after an abort.
const LATE_MS = 5000

// Number of events that the store removes in one transaction.
const BATCH = 200

/** Selection of the due events. */
export interface DueSelection {
  readonly filter: Filter | undefined
  readonly holds: Holds
  readonly before: Microseconds
}

/** The due events that are not on hold, in pages, oldest first. */
export async function* removable(
  { store, signal }: Job,
  { filter, holds, before }: DueSelection,
  lazy?: boolean,
): AsyncGenerator<readonly AuditEvent[], void, void> {
  // Read after `before` is known, because events that are opened later are after `before`. An event that is open now
  // stays even if it is closed during the run. Otherwise the archive could get it before its last change.
  const open = await openIds(store, { signal })
  const isFree = (event: AuditEvent): boolean =>
    !open.has(event.id) && !holds.some((hold) => hold.matches(event))
  for await (const events of scan(store, { direction: 'asc', filter, before, lazy, signal })) {
    const free = events.filter(isFree)
    if (free.length > 0) yield free
  }
}

/** Archives and removes the due events page by page. Without a filter and holds, first removes whole ranges. */
export async function removeSelected(
  job: Job,
  selection: DueSelection,
  target: ArchiveTarget | undefined,
): Promise<void> {
  const { filter, holds, before } = selection
  if (!target) {
    for await (const events of removable(job, selection))
      await remove(
        job,
        events.map(({ id }) => id),
      )
    return
  }
  const archive = openArchive(target, job)
  const removeArchived = async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return
    const { totals } = job
    totals.archived_count = (totals.archived_count ?? 0) + ids.length
    if (archive.file !== undefined) totals.archive_file = archive.file
    for (let at = 0; at < ids.length; at += BATCH) await remove(job, ids.slice(at, at + BATCH))
  }
  try {
    if (filter === undefined && holds.length === 0)
      await archiveRanges(job, archive, target, before)
    for await (const events of removable(job, selection))
      await removeArchived(await archive.add(events))
    await removeArchived(await archive.finish())
  } finally {
    await archive.close()
  }
}

async function remove(job: Job, ids: readonly string[]): Promise<void> {
  throwIfAborted(job.signal)
  // The store gets time to finish, so that the number of removed events is known.
  using late = delayedAbort(job.signal)
  job.totals.removed_count += await job.store.remove(ids, { signal: late.signal })
  job.progress()
}

/** Removes all events before this time. */
export async function removeAll(
  { store, totals, signal, progress }: Job,
  before: Microseconds,
): Promise<void> {
  const onProgress = (removed: number): void => {
    totals.removed_count = removed
    progress()
  }
  totals.removed_count = await store.removeBefore(before, { signal, onProgress })
}

/** Counts the events that `removeAll` would remove. */
export async function previewAll({ store, signal }: Job, before: Microseconds): Promise<Preview> {
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

/** Counts the events that `removeSelected` would remove. */
export async function previewSelected(job: Job, selection: DueSelection): Promise<Preview> {
  let due: Preview = { due_count: 0, oldest_due: null, newest_due: null }
  for await (const events of removable(job, selection)) {
    due = {
      due_count: due.due_count + events.length,
      oldest_due: due.oldest_due ?? events[0]!.created_at,
      newest_due: events.at(-1)!.created_at,
    }
  }
  return { ...due, before: formatTimestamp(selection.before) }
}

/** A signal that aborts `LATE_MS` after the given one, which must not be aborted yet. */
function delayedAbort(signal: AbortSignal): Disposable & { readonly signal: AbortSignal } {
  const late = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const onAbort = (): void => {
    timer = setTimeout(() => late.abort(signal.reason), LATE_MS)
  }
  signal.addEventListener('abort', onAbort, { once: true })
  return {
    signal: late.signal,
    [DISPOSE]() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

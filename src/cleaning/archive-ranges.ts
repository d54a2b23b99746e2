import { stat } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import path from 'node:path'
import { throwIfAborted } from '../errors.js'
import type { JsonValue } from '../event/event.js'
import { DAY, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { EventRange, EventStore, RemovableRanges } from '../store/store.js'
import type { Archive, ArchiveTarget } from './archive-target.js'
import type { Job } from './task.js'

/*
 * Archives the events of whole ranges, such as partitions, while they stay in the log, and removes a range at once
 * when all of its events are durable in the archive. The store keeps the progress of the archive. So a run after an
 * interrupted one archives only the events of the last page or file again.
 */

type RangeStore = EventStore &
  Required<Pick<EventStore, 'removableRanges' | 'readRange' | 'removeRange'>>

const hasRanges = (store: EventStore): store is RangeStore => store.removableRanges !== undefined

// Size of a page. The same as in the removal of single events, so that functions of the host get pages of one size.
const PAGE_SIZE = 200
const MAX_PAUSE_MS = 50

/** The archive has the events of the snapshot up to `after`, except the events of skipped ranges. */
interface Progress {
  readonly snapshot: string
  readonly after: Microseconds
  /** Path of the newest file. */
  readonly file?: string
  /** Names of ranges whose events are removed one by one. */
  readonly skipped: readonly string[]
}

const keyOf = (rule: string): string => `cleaning-archive:${rule}`

const KEEP_FOR = 30 * DAY

/** False if the file was removed or another directory was configured. Then the events are archived again. */
async function isInPlace(file: string | undefined, { to }: ArchiveTarget): Promise<boolean> {
  if (typeof to === 'function') return file === undefined
  const directory = path.resolve(typeof to === 'string' ? to : to.directory)
  if (file === undefined || !file.startsWith(directory + path.sep)) return false
  return stat(file).then(
    () => true,
    () => false,
  )
}

async function readProgress(
  { store, rule, signal }: Job,
  target: ArchiveTarget,
): Promise<Progress | undefined> {
  const value = await store.updateState(keyOf(rule), (stored) => stored, { signal })
  const progress = value as unknown as Progress | undefined
  return progress && (await isInPlace(progress.file, target)) ? progress : undefined
}

async function writeProgress({ store, rule, signal }: Job, progress?: Progress): Promise<void> {
  const value = progress as unknown as JsonValue | undefined
  await store.updateState(keyOf(rule), () => value, { signal, keepFor: KEEP_FOR })
}

/** The events that were read from the ranges and are not durable in the archive yet. */
function createQueue() {
  /** Times of the events that are not durable. */
  const times: Microseconds[] = []
  /** Ranges that were read to the end, and the number of events read up to their end. */
  const whole: { readonly range: EventRange; readonly end: number }[] = []
  let read = 0
  let durable = 0
  return {
    add(events: readonly { readonly created_at: string }[]): void {
      for (const { created_at } of events) times.push(parseTimestamp(created_at)!)
      read += events.length
    },
    addEnd: (range: EventRange) => void whole.push({ range, end: read }),
    /**
     * Archives the next events. Returns the time of the last event that became durable; `undefined` if no event is
     * left.
     */
    take(count: number): Microseconds | undefined {
      durable += count
      return times.splice(0, count).at(-1)
    },
    /** The next range whose events are all durable. */
    nextDurable: (): EventRange | undefined =>
      whole[0] && whole[0].end <= durable ? whole.shift()!.range : undefined,
  }
}

/** The events of a range in pages. Returns false if some cannot be read. Pauses half of the time, for other work. */
async function* pagesOf(
  store: RangeStore,
  range: EventRange,
  { snapshot, after }: Pick<Progress, 'snapshot' | 'after'>,
  signal: AbortSignal,
) {
  for (let last = after; ;) {
    const began = performance.now()
    const options = { snapshot, after: last, limit: PAGE_SIZE, signal }
    const events = await store.readRange(range, options)
    if (!events) return false
    if (events.length > 0) yield events
    if (events.length < PAGE_SIZE) return true
    last = parseTimestamp(events.at(-1)!.created_at)!
    await delay(Math.min(performance.now() - began, MAX_PAUSE_MS))
  }
}

/** Archives and removes the ranges that end before this time, if the store has any. */
export async function archiveRanges(
  job: Job,
  archive: Archive,
  target: ArchiveTarget,
  before: Microseconds,
): Promise<void> {
  const { store, signal, totals } = job
  if (!hasRanges(store)) return
  const earlier = await readProgress(job, target)
  const opened: RemovableRanges = await store.removableRanges(before, {
    signal,
    snapshot: earlier?.snapshot,
  })
  const { snapshot, ranges } = opened
  const isContinued = earlier?.snapshot === snapshot
  if (ranges.length === 0 && !earlier) return
  let progress: Progress = isContinued ? earlier : { snapshot, after: -1, skipped: [] }
  const queue = createQueue()

  const noteDurable = async (count: number): Promise<void> => {
    const after = queue.take(count)
    if (after !== undefined) {
      totals.archived_count = (totals.archived_count ?? 0) + count
      if (archive.file !== undefined) totals.archive_file = archive.file
      const file = archive.file ?? progress.file
      progress = { ...progress, after, ...(file !== undefined && { file }) }
      await writeProgress(job, progress)
    }
    for (let range = queue.nextDurable(); range; range = queue.nextDurable()) {
      throwIfAborted(signal)
      totals.removed_count += await store.removeRange(range, { snapshot, signal })
      job.progress()
    }
  }

  for (const range of ranges) {
    if (progress.skipped.includes(range.name)) continue
    const pages = pagesOf(store, range, progress, signal)
    let page = await pages.next()
    for (; !page.done; page = await pages.next()) {
      queue.add(page.value)
      await noteDurable((await archive.add(page.value)).length)
    }
    if (page.value) queue.addEnd(range)
    else {
      progress = { ...progress, skipped: [...progress.skipped, range.name] }
      await writeProgress(job, progress)
    }
    await noteDurable(0)
  }
  await noteDurable((await archive.finish()).length)
  await writeProgress(job)
}

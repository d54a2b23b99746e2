import { parseEventId, SUFFIX_LENGTH } from '../../../src/event/event-id.js'
import type { RemoveOptions, WaitOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { withSmallCheckpoints } from '../connection/database.js'
import { runTimeSlice, WRITE_SLICE_MS, writeInTimeSlices } from '../connection/time-slice.js'

// Rows, and free pages, between two checks of the time.
const STEP_ROWS = 25
const MAX_STEPS = 40
const STEP_PAGES = 4
// The value of `PRAGMA auto_vacuum` for INCREMENTAL.
const INCREMENTAL = 2

const LAST_OF_STEP = `SELECT created_at FROM daybook_events WHERE created_at < ?
  ORDER BY created_at LIMIT 1 OFFSET ${STEP_ROWS - 1}`

// A suffix of more than SUFFIX_LENGTH characters is a whole id, which does not contain the time.
const DELETE_FOREIGN_IDS = `DELETE FROM daybook_foreign_ids WHERE id IN
  (SELECT suffix FROM daybook_events WHERE created_at < ? AND length(suffix) > ${SUFFIX_LENGTH})`

// Events of segments before this time may have been removed. The mark is at most just after the newest event,
// so that it does not cover events that are recorded later.
const SET_REMOVED_BEFORE = `UPDATE daybook_index SET removed_before =
  max(removed_before, min(?, (SELECT created_at + 1 FROM daybook_high_water)))`

const COUNT_REMOVED = 'UPDATE daybook_index SET removed = removed + ?'

/** The result of one transaction. */
interface Slice {
  readonly removed: number
  readonly hasMore: boolean
}

/** Removes the events before `time`, oldest first; returns their number. */
export async function removeBefore(
  connection: Connection,
  time: Microseconds,
  options: RemoveOptions,
): Promise<number> {
  const { statement } = connection
  const slice = (): Slice => {
    let removed = 0
    const hasMore = runTimeSlice(
      () => {
        const last = statement(LAST_OF_STEP).get(time) as { created_at: Microseconds } | undefined
        const end = last ? last.created_at + 1 : time
        statement(DELETE_FOREIGN_IDS).run(end)
        removed += statement('DELETE FROM daybook_events WHERE created_at < ?').run(end).changes
        return last !== undefined
      },
      { ms: WRITE_SLICE_MS, maxSteps: MAX_STEPS },
    )
    if (removed > 0) statement(SET_REMOVED_BEFORE).run(time)
    return { removed, hasMore }
  }
  return removeInSlices(connection, slice, options)
}

/** Removes the events with these ids; returns how many there were. */
export async function removeIds(
  connection: Connection,
  ids: readonly string[],
  options: WaitOptions,
): Promise<number> {
  const { statement } = connection
  const removeAt = (time: Microseconds, suffix: string): number =>
    statement('DELETE FROM daybook_events WHERE created_at = ? AND suffix = ?').run(time, suffix)
      .changes

  const removeOne = (id: string): number => {
    const foreign = statement(
      'DELETE FROM daybook_foreign_ids WHERE id = ? RETURNING created_at',
    ).get(id) as { created_at: Microseconds } | undefined
    if (foreign) return removeAt(foreign.created_at, id)
    const parsed = parseEventId(id)
    return parsed ? removeAt(parsed.time, parsed.suffix) : 0
  }

  // Advances only after a commit, so that a transaction which is tried again takes the same ids.
  let done = 0
  const slice = (): Slice & { readonly next: number } => {
    let removed = 0
    let next = done
    const hasMore = runTimeSlice(
      () => {
        if (next < ids.length) removed += removeOne(ids[next++]!)
        return next < ids.length
      },
      { ms: WRITE_SLICE_MS },
    )
    if (removed > 0) statement(COUNT_REMOVED).run(removed)
    return { removed, hasMore, next }
  }
  return removeInSlices(connection, slice, options, ({ next }) => (done = next))
}

/** Returns the number of removed events, after the free pages have been released. */
async function removeInSlices<Done extends Slice>(
  connection: Connection,
  slice: () => Done,
  { onProgress, ...options }: RemoveOptions,
  onCommit: (done: Done) => void = () => {},
): Promise<number> {
  let removed = 0
  const report = (done: Done): void => {
    onCommit(done)
    removed += done.removed
    if (done.removed > 0) onProgress?.(removed)
  }
  return withSmallCheckpoints(connection.database, async () => {
    await writeInTimeSlices(connection, slice, report, options)
    await releasePages(connection, options)
    return removed
  })
}

/**
 * Returns free pages to the file system if the file has incremental vacuum. After an error, the next call
 * continues.
 */
async function releasePages(connection: Connection, options: WaitOptions): Promise<void> {
  const { database } = connection
  const read = (name: string): number => database.pragma(name, { simple: true }) as number
  const slice = (): { readonly hasMore: boolean } => {
    const hasMore = runTimeSlice(
      () => {
        // Each step of the statement releases one page; `pragma` runs it to its end.
        database.pragma(`incremental_vacuum(${STEP_PAGES})`)
        return read('freelist_count') > 0
      },
      { ms: WRITE_SLICE_MS },
    )
    return { hasMore }
  }
  try {
    const hasSome = (): boolean => read('auto_vacuum') === INCREMENTAL && read('freelist_count') > 0
    if (!(await connection.retry(hasSome, options))) return
    await writeInTimeSlices(connection, slice, () => {}, options)
    // A checkpoint truncates the file itself.
    await connection.retry(() => database.pragma('wal_checkpoint(TRUNCATE)'), options)
  } catch {
    // The events are removed; only the file stays large.
  }
}

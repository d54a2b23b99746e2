import { parseEventId, SUFFIX_LENGTH } from '../../../src/event/event-id.js'
import type { RemoveOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { eventsSealed } from '../../../src/store/ledger-errors.js'
import type { Connection, WriteOptions } from '../connection/connection.js'
import { emptyWal } from '../connection/disk-failure.js'
import { hasFreePages, releaseSomePages } from '../connection/free-pages.js'
import { hasLedger } from '../schema/ledger.js'
import { noteRemoved } from '../index/removed-events.js'
import { runTimeSlice, WRITE_SLICE_MS, writeInTimeSlices } from '../connection/time-slice.js'

// Rows between two checks of the time.
const STEP_ROWS = 25
const MAX_STEPS = 40
// Ids that are given to one transaction.
const MAX_IDS = 500
// How long the truncation of the WAL waits for other connections, which may read for longer.
const TRUNCATE_MS = 1000

const LAST_OF_STEP = `SELECT created_at FROM daybook_events WHERE created_at < ?
  ORDER BY created_at LIMIT 1 OFFSET ${STEP_ROWS - 1}`

// A suffix of more than SUFFIX_LENGTH characters is a whole id, which does not contain the time.
const DELETE_FOREIGN_IDS = `DELETE FROM daybook_foreign_ids WHERE id IN
  (SELECT suffix FROM daybook_events WHERE created_at < ? AND length(suffix) > ${SUFFIX_LENGTH})`

// Events of segments before this time may have been removed. The mark is at most just after the newest event,
// so that it does not cover events that are recorded later.
const SET_REMOVED_BEFORE = `UPDATE daybook_index SET removed_before =
  max(removed_before, min(?, (SELECT created_at + 1 FROM daybook_high_water)))`

const REMOVE_AT = 'DELETE FROM daybook_events WHERE created_at = ? AND suffix = ?'

const COUNT_REMOVED = 'UPDATE daybook_index SET removed = removed + ?'

/** The result of one transaction. */
interface Slice {
  readonly removed: number
  readonly hasMore: boolean
}

/** The result of one transaction that removed events by their ids. */
interface IdSlice {
  readonly removed: number
  /** The number of ids that were looked up, from the first. */
  readonly done: number
}

/** Removes some of the events before `time`, oldest first. Call it within a write transaction. */
function removeSomeBefore(connection: Connection, time: Microseconds): Slice {
  if (hasLedger(connection)) throw eventsSealed()
  const { statement } = connection
  let removed = 0
  const hasMore = runTimeSlice(
    () => {
      const last = statement(LAST_OF_STEP).get(time) as { created_at: Microseconds } | undefined
      const end = last ? last.created_at + 1 : time
      statement(DELETE_FOREIGN_IDS).run(end)
      const { changes } = statement('DELETE FROM daybook_events WHERE created_at < ?').run(end)
      removed += changes
      return last !== undefined
    },
    { ms: WRITE_SLICE_MS, maxSteps: MAX_STEPS },
  )
  if (removed > 0) statement(SET_REMOVED_BEFORE).run(time)
  return { removed, hasMore }
}

/** An event by its place in the table. */
interface EventPlace {
  readonly time: Microseconds
  readonly suffix: string
}

/** Removes an event; returns the number of rows. */
function removeAt(connection: Connection, { time, suffix }: EventPlace): number {
  if (connection.statement(REMOVE_AT).run(time, suffix).changes === 0) return 0
  noteRemoved(connection, time)
  return 1
}

const SUFFIX_AT = 'SELECT suffix FROM daybook_events WHERE created_at = ?'

/** Removes the events at these times; returns their number. Call it within a write transaction. */
export function removeTimes(connection: Connection, times: readonly Microseconds[]): number {
  const { statement } = connection
  let removed = 0
  for (const time of times) {
    const found = statement(SUFFIX_AT).get(time) as { readonly suffix: string } | undefined
    if (!found) continue
    if (found.suffix.length > SUFFIX_LENGTH)
      statement('DELETE FROM daybook_foreign_ids WHERE id = ?').run(found.suffix)
    removed += removeAt(connection, { time, suffix: found.suffix })
  }
  countRemoved(connection, removed)
  return removed
}

const countRemoved = ({ statement }: Connection, removed: number): void => {
  if (removed > 0) statement(COUNT_REMOVED).run(removed)
}

/** Removes some of the events with these ids. Call it within a write transaction. */
function removeSomeIds(connection: Connection, ids: readonly string[]): IdSlice {
  if (hasLedger(connection)) throw eventsSealed()
  const { statement } = connection
  const removeOne = (id: string): number => {
    const foreign = statement(
      'DELETE FROM daybook_foreign_ids WHERE id = ? RETURNING created_at',
    ).get(id) as { created_at: Microseconds } | undefined
    if (foreign) return removeAt(connection, { time: foreign.created_at, suffix: id })
    const parsed = parseEventId(id)
    return parsed ? removeAt(connection, parsed) : 0
  }

  let removed = 0
  let done = 0
  runTimeSlice(
    () => {
      if (done < ids.length) removed += removeOne(ids[done++]!)
      return done < ids.length
    },
    { ms: WRITE_SLICE_MS },
  )
  countRemoved(connection, removed)
  return { removed, done }
}

/** Returns free pages to the file system. */
export async function releasePages(connection: Connection, options: WriteOptions): Promise<void> {
  try {
    // After an error, the next removal continues.
    if (!(await connection.retry(() => hasFreePages(connection), options))) return
    const release = (): Promise<boolean> =>
      connection.write(() => releaseSomePages(connection), options)
    await writeInTimeSlices(connection, release, options)
    // Truncates the file itself.
    const deadline = Math.min(options.deadline ?? Infinity, performance.now() + TRUNCATE_MS)
    await connection.retry(() => emptyWal(connection.database), { ...options, deadline })
  } catch {
    // The events are removed; only the file stays large.
  }
}

/** Calls `slice`, which runs one write transaction, until it has no more to do, then returns free pages to the file system. */
async function removeInSlices(
  connection: Connection,
  slice: () => Promise<boolean>,
  options: WriteOptions,
): Promise<void> {
  await writeInTimeSlices(connection, slice, options)
  await releasePages(connection, options)
}

/** Like `EventStore.removeBefore`, in short transactions with pauses between them. */
export async function removeBefore(
  connection: Connection,
  time: Microseconds,
  { onProgress, ...options }: RemoveOptions,
): Promise<number> {
  let removed = 0
  const slice = async (): Promise<boolean> => {
    const done = await connection.write(() => removeSomeBefore(connection, time), options)
    removed += done.removed
    if (done.removed > 0) onProgress?.(removed)
    return done.hasMore
  }
  await removeInSlices(connection, slice, options)
  return removed
}

/** Like `EventStore.remove`, in short transactions with pauses between them. */
export async function removeIds(
  connection: Connection,
  ids: readonly string[],
  options: WriteOptions,
): Promise<number> {
  let removed = 0
  let next = 0
  const slice = async (): Promise<boolean> => {
    const some = ids.slice(next, next + MAX_IDS)
    const done = await connection.write(() => removeSomeIds(connection, some), options)
    removed += done.removed
    next += done.done
    return next < ids.length
  }
  await removeInSlices(connection, slice, options)
  return removed
}

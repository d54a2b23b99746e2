import { parseEventId, SUFFIX_LENGTH } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { noteRemoved } from '../index/removed-events.js'
import { runTimeSlice, WRITE_SLICE_MS } from '../connection/time-slice.js'

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
export interface Slice {
  readonly removed: number
  readonly hasMore: boolean
}

/** The result of one transaction that removed events by their ids. */
export interface IdSlice {
  readonly removed: number
  /** The number of ids that were looked up, from the first. */
  readonly done: number
}

/** Removes some of the events before `time`, oldest first. Call it within a write transaction. */
export function removeSomeBefore({ statement }: Connection, time: Microseconds): Slice {
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

/** An event by its place in the table. */
export interface EventPlace {
  readonly time: Microseconds
  readonly suffix: string
}

/** Removes an event; returns the number of rows. Call it, and then `countRemoved`, within a write transaction. */
export function removeAt(connection: Connection, { time, suffix }: EventPlace): number {
  const remove = connection.statement(
    'DELETE FROM daybook_events WHERE created_at = ? AND suffix = ?',
  )
  const { changes } = remove.run(time, suffix)
  if (changes > 0) noteRemoved(connection, time)
  return changes
}

export function countRemoved({ statement }: Connection, removed: number): void {
  if (removed > 0) statement(COUNT_REMOVED).run(removed)
}

/** Removes some of the events with these ids. Call it within a write transaction. */
export function removeSomeIds(connection: Connection, ids: readonly string[]): IdSlice {
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

const readPragma = ({ database }: Connection, name: string): number =>
  database.pragma(name, { simple: true }) as number

/** True if the file can give pages back to the file system. */
export const hasFreePages = (connection: Connection): boolean =>
  readPragma(connection, 'auto_vacuum') === INCREMENTAL &&
  readPragma(connection, 'freelist_count') > 0

/**
 * Returns some of the free pages to the file system if the file has incremental vacuum. Returns true if there are
 * more. Call it within a write transaction.
 */
export function releaseSomePages(connection: Connection): boolean {
  if (!hasFreePages(connection)) return false
  return runTimeSlice(
    () => {
      // Each step of the statement releases one page; `pragma` runs it to its end.
      connection.database.pragma(`incremental_vacuum(${STEP_PAGES})`)
      return readPragma(connection, 'freelist_count') > 0
    },
    { ms: WRITE_SLICE_MS },
  )
}

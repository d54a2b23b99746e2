import { parseEventId, TAIL_LENGTH } from '../../../src/event/event-id.js'
import type { RemoveOptions, WaitOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { withSmallCheckpoints } from '../connection/database.js'
import { runTimeSlice, WRITE_SLICE_MS, writeInTimeSlices } from '../connection/time-slice.js'

// Rows, and pages that go back to the file system, between two looks at the time.
const ROWS = 25
const MOST_STEPS = 40
const PAGES = 4
const INCREMENTAL = 2

const LAST_OF_SOME = `SELECT created_at FROM daybook_events WHERE created_at < ?
  ORDER BY created_at LIMIT 1 OFFSET ${ROWS - 1}`

// A tail longer than that of an id that carries its time is the whole of one that does not.
const FREE_FOREIGN_IDS = `DELETE FROM daybook_foreign_ids WHERE id IN
  (SELECT tail FROM daybook_events WHERE created_at < ? AND length(tail) > ${TAIL_LENGTH})`

// Before the oldest event there is nothing in any case.
const TELL_INDEX = 'UPDATE daybook_index SET removed = removed + ?'

/** What one transaction has done. */
interface Turn {
  readonly removed: number
  readonly hasMore: boolean
}

/** Removes what is before `time`, oldest first; gives their number. */
export async function removeBefore(
  connection: Connection,
  time: Microseconds,
  options: RemoveOptions,
): Promise<number> {
  const { statement } = connection
  const turn = (): Turn => {
    let removed = 0
    const hasMore = runTimeSlice(
      () => {
        const last = statement(LAST_OF_SOME).get(time) as { created_at: Microseconds } | undefined
        const end = last ? last.created_at + 1 : time
        statement(FREE_FOREIGN_IDS).run(end)
        removed += statement('DELETE FROM daybook_events WHERE created_at < ?').run(end).changes
        return last !== undefined
      },
      { ms: WRITE_SLICE_MS, mostSteps: MOST_STEPS },
    )
    return { removed, hasMore }
  }
  return removeInTurns(connection, turn, options)
}

/** Removes those that are there; gives their number. */
export async function removeIds(
  connection: Connection,
  ids: readonly string[],
  options: WaitOptions,
): Promise<number> {
  const { statement } = connection
  const removeAt = (time: Microseconds, tail: string): number =>
    statement('DELETE FROM daybook_events WHERE created_at = ? AND tail = ?').run(time, tail)
      .changes

  const removeOne = (id: string): number => {
    const foreign = statement(
      'DELETE FROM daybook_foreign_ids WHERE id = ? RETURNING created_at',
    ).get(id) as { created_at: Microseconds } | undefined
    if (foreign) return removeAt(foreign.created_at, id)
    const carried = parseEventId(id)
    return carried ? removeAt(carried.time, carried.tail) : 0
  }

  // What one transaction took stays there for the next try where it cannot be committed.
  let done = 0
  const turn = (): Turn & { readonly next: number } => {
    let removed = 0
    let next = done
    const hasMore = runTimeSlice(
      () => {
        if (next < ids.length) removed += removeOne(ids[next++]!)
        return next < ids.length
      },
      { ms: WRITE_SLICE_MS },
    )
    if (removed > 0) statement(TELL_INDEX).run(removed)
    return { removed, hasMore, next }
  }
  return removeInTurns(connection, turn, options, ({ next }) => (done = next))
}

/** Gives the number of removed events, once free pages are given back. */
async function removeInTurns<Done extends Turn>(
  connection: Connection,
  turn: () => Done,
  { onProgress, ...options }: RemoveOptions,
  onCommit: (done: Done) => void = () => {},
): Promise<number> {
  let removed = 0
  const tell = (done: Done): void => {
    onCommit(done)
    removed += done.removed
    if (done.removed > 0) onProgress?.(removed)
  }
  return withSmallCheckpoints(connection.database, async () => {
    await writeInTimeSlices(connection, turn, tell, options)
    await giveBack(connection, options)
    return removed
  })
}

/** Gives free pages back where the file was made to; what fails of it is left to the next call. */
async function giveBack(connection: Connection, options: WaitOptions): Promise<void> {
  const { database } = connection
  const read = (name: string): number => database.pragma(name, { simple: true }) as number
  const turn = (): { readonly hasMore: boolean } => {
    const hasMore = runTimeSlice(
      () => {
        // Each step of the statement gives one page back: it has to be run to its end.
        database.pragma(`incremental_vacuum(${PAGES})`)
        return read('freelist_count') > 0
      },
      { ms: WRITE_SLICE_MS },
    )
    return { hasMore }
  }
  try {
    const hasSome = (): boolean => read('auto_vacuum') === INCREMENTAL && read('freelist_count') > 0
    if (!(await connection.retry(hasSome, options))) return
    await writeInTimeSlices(connection, turn, () => {}, options)
    // The file itself gets shorter by a checkpoint.
    await connection.retry(() => database.pragma('wal_checkpoint(TRUNCATE)'), options)
  } catch {
    // The events are gone, and that is what the call tells.
  }
}

import { TAIL_LENGTH } from '../../src/event-id.js'
import type { WaitOptions } from '../../src/store.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { Connection } from './connection.js'

// Rows that one transaction removes: some milliseconds of the one write lock.
const BATCH = 1000
// Pages that one transaction gives back to the file system, and one call in all.
const VACUUM_PAGES = 500
const VACUUM_ROUNDS = 100
const INCREMENTAL = 2

/** Removes what is before `time`, oldest first; gives their number. */
export async function removeBefore(
  connection: Connection,
  time: Microseconds,
  options: WaitOptions,
): Promise<number> {
  const removeSome = (): number => {
    const last = connection
      .statement(
        'SELECT created_at FROM daybook_events WHERE created_at < ? ORDER BY created_at LIMIT 1 OFFSET ?',
      )
      .get(time, BATCH - 1) as { created_at: Microseconds } | undefined
    const end = last ? last.created_at + 1 : time
    // A tail longer than that of an id that carries its time is the whole of one that does not.
    connection
      .statement(
        `DELETE FROM daybook_foreign_ids WHERE id IN
        (SELECT tail FROM daybook_events WHERE created_at < ? AND length(tail) > ?)`,
      )
      .run(end, TAIL_LENGTH)
    const remove = connection.statement('DELETE FROM daybook_events WHERE created_at < ?')
    return remove.run(end).changes
  }
  let removed = 0
  for (let last = BATCH; last === BATCH; removed += last) {
    if (removed > 0) await connection.gap(options)
    last = await connection.write(removeSome, options)
  }
  if (removed > 0) await giveBack(connection, options)
  return removed
}

/** Gives free pages back where the file was made to; what fails of it is left to the next call. */
async function giveBack(connection: Connection, options: WaitOptions): Promise<void> {
  const pragma = (source: string, simple = true): Promise<unknown> =>
    connection.retry(() => connection.database.pragma(source, { simple }), options)
  try {
    if ((await pragma('auto_vacuum')) !== INCREMENTAL) return
    for (let round = 0; round < VACUUM_ROUNDS; round++) {
      if ((await pragma('freelist_count')) === 0) return
      await connection.gap(options)
      // Each step of the statement gives one page back: it has to be run to its end.
      await pragma(`incremental_vacuum(${VACUUM_PAGES})`, false)
    }
  } catch {
    // The events are gone, and that is what the call tells.
  }
}

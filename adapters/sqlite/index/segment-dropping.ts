import { AuditLogError } from '../../../src/errors.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { rowIds, State } from './index-tables.js'
import type { Step } from './segment-writing.js'

// Rows that one transaction removes.
const MOST_ROWS = 200

const TABLES = ['daybook_chunks', 'daybook_segment_times']

const REMOVE_KEYS = `DELETE FROM daybook_chunk_keys WHERE (segment, name, kind, first, ordinal) IN
  (SELECT segment, name, kind, first, ordinal FROM daybook_chunk_keys WHERE segment = ? LIMIT ${MOST_ROWS})`

// One that was left behind may have become visible since that was seen.
const TAKE_OUT = `UPDATE daybook_segments SET state = ${State.gone}
  WHERE id = ? AND state <> ${State.visible}`

const SET_GONE = `UPDATE daybook_segments SET state = ${State.gone} WHERE id = ?`

const NEXT_VERSION = 'UPDATE daybook_index SET version = version + 1'

const LEFT_BEHIND = `SELECT id FROM daybook_segments WHERE state IN (${State.building}, ${State.gone}) LIMIT 1`

const BEFORE_ALL = `SELECT id FROM daybook_segments WHERE state = ${State.visible} AND last < ? LIMIT 1`

const OLDEST = 'SELECT min(created_at) AS oldest FROM daybook_events'

/** Another process has begun to remove the segment meanwhile, or the file is damaged. */
export const missingRows = (id: number): AuditLogError =>
  new AuditLogError('STORE_FAILED', `segment ${id} of the index is not there as a whole`)

/** Within a transaction: nobody reads the segment from its end on. */
export function setGone({ statement }: Connection, id: number): void {
  statement(SET_GONE).run(id)
}

/** Within a transaction: tells readers that there are other segments now. */
export function nextVersion({ statement }: Connection): void {
  statement(NEXT_VERSION).run()
}

/** Removes a segment, unless it is visible, and last its row: until then nobody forgets it. */
export function* dropSegment({ statement }: Connection, id: number): Generator<Step, void> {
  let isOut = false
  // From here on nobody writes to it either.
  yield () => {
    isOut = statement(TAKE_OUT).run(id).changes > 0
  }
  if (!isOut) return
  const [from, end] = rowIds(id)
  for (const table of TABLES) {
    const last = statement(`SELECT max(id) AS last FROM ${table} WHERE id >= ? AND id < ?`)
    const row = last.get(from, end) as { readonly last: number | null }
    for (let at = from; at <= (row.last ?? -1); at += MOST_ROWS)
      yield () =>
        void statement(`DELETE FROM ${table} WHERE id >= ? AND id < ?`).run(at, at + MOST_ROWS)
  }
  for (let removed = MOST_ROWS; removed === MOST_ROWS;)
    yield () => (removed = statement(REMOVE_KEYS).run(id).changes)
  yield () => void statement('DELETE FROM daybook_segments WHERE id = ?').run(id)
}

/**
 * Removes a segment that is not visible, and was left behind by who made or merged it. False where there is none. Who is
 * still making it notices, and gives up.
 */
export function* removeOrphans(connection: Connection): Generator<Step, boolean> {
  const row = connection.statement(LEFT_BEHIND).get() as { readonly id: number } | undefined
  if (!row) return false
  yield* dropSegment(connection, row.id)
  return true
}

/** Removes a segment whose events were all before the oldest that there is. False where there is none. */
export function* dropGone(connection: Connection): Generator<Step, boolean> {
  const { statement } = connection
  const { oldest } = statement(OLDEST).get() as { readonly oldest: Microseconds | null }
  const row = statement(BEFORE_ALL).get(oldest ?? Number.MAX_SAFE_INTEGER)
  if (!row) return false
  const { id } = row as { readonly id: number }
  yield () => {
    setGone(connection, id)
    nextVersion(connection)
  }
  yield* dropSegment(connection, id)
  return true
}

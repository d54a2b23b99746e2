import type { EventDraft, JsonObject } from '../../../src/event/event.js'
import type { SuppressedCount, SuppressedReport } from '../../../src/store/store.js'
import { closedPeriod, isUnclaimed, type ThrottleState } from '../../../src/store/throttle-state.js'
import { type Clock, DAY, type Microseconds } from '../../../src/event/timestamp.js'
import type { Connection, WriteOptions } from '../connection/connection.js'

/* The throttles of all processes on the file, with their counts of suppressed calls. */

type ThrottledDraft = Pick<EventDraft, 'type' | 'throttle'>

// Counts of suppressed calls that one event records.
const MAX_RECORDED = 1000
// Rows of each table that one transaction prunes.
const MAX_PRUNED = 1000

const NO_STATE: ThrottleState = { storedAt: undefined, count: 0, first: undefined, last: undefined }

interface ThrottleRow {
  readonly key: string
  readonly type: string
  /** JSON text. */
  readonly scope: string
  readonly period: Microseconds
  readonly stored_at: Microseconds | null
  readonly count: number
  readonly first: Microseconds | null
  readonly last: Microseconds | null
}

const STATE = 'SELECT stored_at, count, first, last FROM daybook_throttles WHERE key = ?'
const SET_STORED_AT = 'UPDATE daybook_throttles SET stored_at = ? WHERE key = ?'
const CLOSE = `INSERT INTO daybook_throttles (key, type, scope, period, stored_at, count) VALUES (?, ?, ?, ?, ?, 0)
  ON CONFLICT (key) DO UPDATE SET type = excluded.type, scope = excluded.scope, period = excluded.period,
    stored_at = excluded.stored_at, count = 0, first = NULL, last = NULL`
const ADD = `INSERT INTO daybook_throttles (key, type, scope, period, count, first, last) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET type = excluded.type, scope = excluded.scope, period = excluded.period,
    count = count + excluded.count, first = min(coalesce(first, excluded.first), excluded.first),
    last = max(coalesce(last, excluded.last), excluded.last)`
const ADD_REPORT = `INSERT INTO daybook_reporters (reporter, number, reported_at) VALUES (?, ?, ?)
  ON CONFLICT (reporter) DO UPDATE SET number = excluded.number, reported_at = excluded.reported_at
  WHERE excluded.number > number`
const CLEAR = 'UPDATE daybook_throttles SET count = 0, first = NULL, last = NULL WHERE key = ?'
const PRUNE_THROTTLES = `DELETE FROM daybook_throttles WHERE key IN (SELECT key FROM daybook_throttles
  WHERE count = 0 AND coalesce(stored_at + 2 * period, 0) <= ? LIMIT ${MAX_PRUNED})`
const PRUNE_REPORTERS = `DELETE FROM daybook_reporters WHERE reporter IN (SELECT reporter FROM daybook_reporters
  WHERE reported_at <= ? LIMIT ${MAX_PRUNED})`

const stateIn = ({ stored_at, count, first, last }: ThrottleRow): ThrottleState => ({
  storedAt: stored_at ?? undefined,
  count,
  first: first ?? undefined,
  last: last ?? undefined,
})

function stateOf({ statement }: Connection, key: string): ThrottleState {
  const row = statement(STATE).get(key) as ThrottleRow | undefined
  return row ? stateIn(row) : NO_STATE
}

/** How long the draft's throttle stays closed; 0 if it is open or the draft has none. Call it within a write transaction. */
export function opensIn(
  connection: Connection,
  { throttle }: ThrottledDraft,
  now: Microseconds,
): Microseconds {
  if (!throttle) return 0
  const { key, period } = throttle
  const before = stateOf(connection, key)
  const closed = closedPeriod(before.storedAt, period, now)
  if (closed.storedAt !== before.storedAt)
    connection.statement(SET_STORED_AT).run(closed.storedAt, key)
  return closed.opensIn
}

/**
 * Closes the throttle of a stored draft; returns its state before, with the suppressed calls that the event takes. Call it
 * within a write transaction.
 */
export function closeThrottle(
  connection: Connection,
  { type, throttle }: ThrottledDraft,
  storedAt: Microseconds,
): ThrottleState {
  if (!throttle) return NO_STATE
  const { key, scope, period } = throttle
  const before = stateOf(connection, key)
  connection.statement(CLOSE).run(key, type, JSON.stringify(scope), period, storedAt)
  return before
}

/** Adds to the count of suppressed calls. Call it within a write transaction. */
export function addSuppressed(
  { statement }: Connection,
  { key, type, scope, period, count, first, last }: SuppressedCount,
): void {
  statement(ADD).run(key, type, JSON.stringify(scope), period, count, first, last)
}

/** Adds the counts of the report, unless they were added before. Call it within a write transaction. */
export function reportSuppressed(
  connection: Connection,
  { reporter, number, counts }: SuppressedReport,
  now: Microseconds,
): void {
  const isNew = connection.statement(ADD_REPORT).run(reporter, number, now).changes > 0
  if (isNew) for (const count of counts) addSuppressed(connection, count)
}

/** At most {@link MAX_RECORDED} of the counts that no further event will take. */
function unclaimed({ statement }: Connection, now: Microseconds): readonly SuppressedCount[] {
  const found: SuppressedCount[] = []
  const rows = statement('SELECT * FROM daybook_throttles WHERE count > 0').iterate()
  for (const row of rows as IterableIterator<ThrottleRow>) {
    if (found.length === MAX_RECORDED) break
    const { stored_at: _, scope: text, first, last, ...rest } = row
    if (first === null || last === null || !isUnclaimed(stateIn(row), row.period, now)) continue
    found.push({ ...rest, scope: JSON.parse(text) as JsonObject, first, last })
  }
  return found
}

const areCurrent = (connection: Connection, counts: readonly SuppressedCount[]): boolean =>
  counts.every(({ key, ...listed }) => {
    const { count, first, last } = stateOf(connection, key)
    return count === listed.count && first === listed.first && last === listed.last
  })

/** Deletes some of the rows that have no effect any more. */
function prune({ statement }: Connection, now: Microseconds): void {
  statement(PRUNE_THROTTLES).run(now)
  statement(PRUNE_REPORTERS).run(now - DAY)
}

/**
 * Like `EventStore.recordSuppressed`; also deletes expired throttles and reporters. Returns the number of counts. `insert`
 * stores a draft, within a write transaction.
 */
export async function recordSuppressed(
  { connection, clock }: { readonly connection: Connection; readonly clock: Clock },
  draftOf: (counts: readonly SuppressedCount[]) => EventDraft,
  insert: (draft: EventDraft) => void,
  options: WriteOptions,
): Promise<number> {
  for (;;) {
    const counts = await connection.retry(() => unclaimed(connection, clock()), options)
    const draft = counts.length > 0 ? draftOf(counts) : undefined
    const isRecorded = await connection.write(() => {
      if (!areCurrent(connection, counts)) return false
      if (draft) insert(draft)
      for (const { key } of counts) connection.statement(CLEAR).run(key)
      prune(connection, clock())
      return true
    }, options)
    if (isRecorded) return counts.length
  }
}

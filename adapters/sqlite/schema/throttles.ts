import type { EventDraft, JsonObject } from '../../../src/event/event.js'
import type { SuppressedCount, SuppressedReport } from '../../../src/store/store.js'
import { closedPeriod, isUnclaimed, type ThrottleState } from '../../../src/store/throttle-state.js'
import { DAY, type Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'

/**
 * The throttles of all processes on the file, with their counts of suppressed calls. Call the methods
 * that change the table within a write transaction.
 */
export interface ThrottleTable {
  /** How long the draft's throttle stays closed; 0 if it is open or the draft has none. */
  opensIn(draft: ThrottledDraft, now: Microseconds): Microseconds
  /** Closes the throttle of a stored draft; returns its state before, with the suppressed calls that the event takes. */
  close(draft: ThrottledDraft, storedAt: Microseconds): ThrottleState
  /** Adds to the count of suppressed calls. */
  add(count: SuppressedCount): void
  /** Adds the counts of the report, unless they were added before. */
  report(report: SuppressedReport, now: Microseconds): void
  /** At most `max` of the counts that no further event will take. */
  unclaimed(now: Microseconds, max: number): readonly SuppressedCount[]
  /** False if one of these counts has changed. */
  areCurrent(counts: readonly SuppressedCount[]): boolean
  /** Resets these counts, which have been recorded. */
  clear(counts: readonly SuppressedCount[]): void
  /** Deletes some of the rows that have no effect any more. */
  prune(now: Microseconds): void
}

export type ThrottledDraft = Pick<EventDraft, 'type' | 'throttle'>

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

export function createThrottleTable({ statement }: Connection): ThrottleTable {
  const stateOf = (key: string): ThrottleState => {
    const row = statement(STATE).get(key) as ThrottleRow | undefined
    return row ? stateIn(row) : NO_STATE
  }

  const add = ({ key, type, scope, period, count, first, last }: SuppressedCount): void => {
    statement(ADD).run(key, type, JSON.stringify(scope), period, count, first, last)
  }

  return {
    opensIn({ throttle }, now) {
      if (!throttle) return 0
      const before = stateOf(throttle.key)
      const { opensIn, storedAt } = closedPeriod(before.storedAt, throttle.period, now)
      if (storedAt !== before.storedAt)
        statement('UPDATE daybook_throttles SET stored_at = ? WHERE key = ?').run(
          storedAt,
          throttle.key,
        )
      return opensIn
    },
    close(draft, storedAt) {
      if (!draft.throttle) return NO_STATE
      const { key, scope, period } = draft.throttle
      const before = stateOf(key)
      statement(CLOSE).run(key, draft.type, JSON.stringify(scope), period, storedAt)
      return before
    },
    add,
    report({ reporter, number, counts }, now) {
      const isNew = statement(ADD_REPORT).run(reporter, number, now).changes > 0
      if (isNew) for (const count of counts) add(count)
    },
    unclaimed(now, max) {
      const found: SuppressedCount[] = []
      const rows = statement('SELECT * FROM daybook_throttles WHERE count > 0').iterate()
      for (const row of rows as IterableIterator<ThrottleRow>) {
        if (found.length === max) break
        const { key, type, scope, period, count, first, last } = row
        if (first !== null && last !== null && isUnclaimed(stateIn(row), period, now))
          found.push({
            key,
            type,
            scope: JSON.parse(scope) as JsonObject,
            period,
            count,
            first,
            last,
          })
      }
      return found
    },
    areCurrent: (counts) =>
      counts.every(({ key, ...listed }) => {
        const { count, first, last } = stateOf(key)
        return count === listed.count && first === listed.first && last === listed.last
      }),
    clear(counts) {
      const reset = statement(
        'UPDATE daybook_throttles SET count = 0, first = NULL, last = NULL WHERE key = ?',
      )
      for (const { key } of counts) reset.run(key)
    },
    prune(now) {
      statement(
        `DELETE FROM daybook_throttles WHERE key IN (SELECT key FROM daybook_throttles
         WHERE count = 0 AND coalesce(stored_at + 2 * period, 0) <= ? LIMIT ${MAX_PRUNED})`,
      ).run(now)
      statement(
        `DELETE FROM daybook_reporters WHERE reporter IN (SELECT reporter FROM daybook_reporters
         WHERE reported_at <= ? LIMIT ${MAX_PRUNED})`,
      ).run(now - DAY)
    },
  }
}

function stateIn({ stored_at, count, first, last }: Omit<ThrottleRow, 'key'>): ThrottleState {
  return {
    storedAt: stored_at ?? undefined,
    count,
    first: first ?? undefined,
    last: last ?? undefined,
  }
}

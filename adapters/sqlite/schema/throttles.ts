import type { EventDraft, JsonObject } from '../../../src/event/event.js'
import type { SuppressedCount, SuppressedReport } from '../../../src/store/store.js'
import {
  closedPeriod,
  isUnclaimed,
  type ThrottleState,
  withSuppressed,
} from '../../../src/store/throttle-state.js'
import { DAY, type Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'

/**
 * Which throttles are closed, and what they have held back, for all processes on the file. What
 * changes it belongs into a write transaction.
 */
export interface ThrottleTable {
  /** For how long the draft is held back; 0 where it may be kept. */
  opensIn(draft: EventDraft, now: Microseconds): Microseconds
  /** Notes that the draft is kept; gives it with what was held back before. */
  close(draft: EventDraft, keptAt: Microseconds): EventDraft
  /** Adds to what was held back. */
  add(count: SuppressedCount): void
  /** Adds the report's counts, unless they have come already. */
  report(report: SuppressedReport, now: Microseconds): void
  /** What no event will tell of, at most so many. */
  unclaimed(now: Microseconds, most: number): readonly SuppressedCount[]
  /** Takes these counts away: they have been told. */
  clear(counts: readonly SuppressedCount[]): void
  /** Lets go of some of what means nothing any more. */
  prune(now: Microseconds): void
}

// Rows of each table that one transaction prunes.
const MOST_PRUNED = 1000

const NOTHING: ThrottleState = { keptAt: undefined, count: 0, first: undefined, last: undefined }

interface ThrottleRow {
  readonly key: string
  readonly type: string
  /** JSON text. */
  readonly scope: string
  readonly period: Microseconds
  readonly kept_at: Microseconds | null
  readonly count: number
  readonly first: Microseconds | null
  readonly last: Microseconds | null
}

const STATE = 'SELECT kept_at, count, first, last FROM daybook_throttles WHERE key = ?'

const KEPT = `INSERT INTO daybook_throttles (key, type, scope, period, kept_at, count) VALUES (?, ?, ?, ?, ?, 0)
  ON CONFLICT (key) DO UPDATE SET type = excluded.type, scope = excluded.scope, period = excluded.period,
    kept_at = excluded.kept_at, count = 0, first = NULL, last = NULL`

const ADD = `INSERT INTO daybook_throttles (key, type, scope, period, count, first, last) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (key) DO UPDATE SET type = excluded.type, scope = excluded.scope, period = excluded.period,
    count = count + excluded.count, first = min(coalesce(first, excluded.first), excluded.first),
    last = max(coalesce(last, excluded.last), excluded.last)`

const REPORTED = `INSERT INTO daybook_reporters (reporter, number, reported_at) VALUES (?, ?, ?)
  ON CONFLICT (reporter) DO UPDATE SET number = excluded.number, reported_at = excluded.reported_at
  WHERE excluded.number > number`

export function createThrottleTable({ statement }: Connection): ThrottleTable {
  const stateOf = (key: string): ThrottleState => {
    const row = statement(STATE).get(key) as ThrottleRow | undefined
    return row ? stateIn(row) : NOTHING
  }

  const add = ({ key, type, scope, period, count, first, last }: SuppressedCount): void => {
    statement(ADD).run(key, type, JSON.stringify(scope), period, count, first, last)
  }

  return {
    opensIn({ throttle }, now) {
      if (!throttle) return 0
      const before = stateOf(throttle.key)
      const { opensIn, keptAt } = closedPeriod(before.keptAt, throttle.period, now)
      if (keptAt !== before.keptAt)
        statement('UPDATE daybook_throttles SET kept_at = ? WHERE key = ?').run(
          keptAt,
          throttle.key,
        )
      return opensIn
    },
    close(draft, keptAt) {
      if (!draft.throttle) return draft
      const { key, scope, period } = draft.throttle
      const before = stateOf(key)
      statement(KEPT).run(key, draft.type, JSON.stringify(scope), period, keptAt)
      return withSuppressed(draft, before)
    },
    add,
    report({ reporter, number, counts }, now) {
      const isNew = statement(REPORTED).run(reporter, number, now).changes > 0
      if (isNew) for (const count of counts) add(count)
    },
    unclaimed(now, most) {
      const found: SuppressedCount[] = []
      const rows = statement('SELECT * FROM daybook_throttles WHERE count > 0').iterate()
      for (const row of rows as IterableIterator<ThrottleRow>) {
        if (found.length === most) break
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
    clear(counts) {
      const reset = statement(
        'UPDATE daybook_throttles SET count = 0, first = NULL, last = NULL WHERE key = ?',
      )
      for (const { key } of counts) reset.run(key)
    },
    prune(now) {
      statement(
        `DELETE FROM daybook_throttles WHERE key IN (SELECT key FROM daybook_throttles
         WHERE count = 0 AND coalesce(kept_at + 2 * period, 0) <= ? LIMIT ${MOST_PRUNED})`,
      ).run(now)
      statement(
        `DELETE FROM daybook_reporters WHERE reporter IN (SELECT reporter FROM daybook_reporters
         WHERE reported_at <= ? LIMIT ${MOST_PRUNED})`,
      ).run(now - DAY)
    },
  }
}

function stateIn({ kept_at, count, first, last }: Omit<ThrottleRow, 'key'>): ThrottleState {
  return {
    keptAt: kept_at ?? undefined,
    count,
    first: first ?? undefined,
    last: last ?? undefined,
  }
}

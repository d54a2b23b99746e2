import { setImmediate as nextTurn } from 'node:timers/promises'
import type { QueryTrace } from '../../../src/store/trace.js'
import { beyond, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Decision, Steps } from '../../../src/filter/steps.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { ListOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { Marks } from '../index/log-index.js'
import { onlyRow } from '../schema/events.js'
import type { EventRow } from '../schema/rows.js'
import type { Tables } from '../schema/log-tables.js'
import { runTimeSlice } from '../connection/time-slice.js'
import type { Direction } from './range-rows.js'
import { createStepReader, type StepReaderOptions, type StepReader } from './step-reader.js'

export interface BoundedListOptions extends ListOptions {
  /** The time at which the list rejects with `ABORTED`, as `performance.now()` counts. */
  readonly deadline?: number | undefined
}

export interface Scan extends StepReaderOptions {
  readonly bounds: TimeBounds
  /** Returns the pushed down filter. Called only when SQL is to exclude rows. */
  where(): Sql | undefined
  /** The state of the log, read before the bounds were set; without it, the scan reads the state. */
  readonly logState?: LogState | undefined
}

// A time slice ends after this many steps even if they take no time.
const MAX_STEPS = 16

/** The state of the log at one moment. Events that become visible later have times after `end`. */
export interface LogState extends Marks {
  readonly end: Microseconds
  readonly hasOpen: 0 | 1
}

const LOG_STATE = `SELECT created_at AS end, EXISTS (SELECT 1 FROM daybook_live) AS hasOpen,
  version, appended, sealed FROM daybook_high_water, daybook_index`

export const readLogState = (connection: Connection): LogState =>
  onlyRow(connection, LOG_STATE) as LogState

const COUNT_ROWS = 'SELECT count(*) AS rows FROM daybook_events WHERE created_at BETWEEN ? AND ?'

/** The number of rows within the bounds, with those that SQL excludes. */
const countRows = ({ statement }: Connection, { from, to }: TimeBounds): number =>
  (statement(COUNT_ROWS).get(from, to) as { rows: number }).rows

/** Adds the rows within the bounds to the trace. */
function traceRows(connection: Connection, trace: QueryTrace, bounds: TimeBounds): void {
  const resume = trace.pause()
  if (trace.current) trace.current.rows += countRows(connection, bounds)
  resume()
}

/** The part of the bounds that comes before `left` in this direction. */
const visitedBounds = (
  direction: Direction,
  { from, to }: TimeBounds,
  left: TimeBounds,
): TimeBounds => (direction === 'desc' ? { from: left.to + 1, to } : { from, to: left.from - 1 })

/**
 * Calls `visit` with the events within the bounds, open ones included, until it returns true. Runs in
 * time slices. `where` does not apply to open events. Events that become visible meanwhile are not
 * visited. Returns the bounds that are left.
 */
export async function scanEvents(
  tables: Tables,
  scan: Scan,
  visit: (row: EventRow) => Decision,
  options: Pick<BoundedListOptions, 'signal' | 'trace' | 'deadline'>,
): Promise<TimeBounds> {
  const { bounds, direction, logState, probe } = scan
  const { connection, events } = tables
  const { trace } = options

  let rest: TimeBounds | undefined
  let reader: StepReader | undefined
  let visited = 0
  /** Remaining steps of the decision about the last row. */
  let undecided: Steps<boolean> | undefined

  const firstBounds = (): TimeBounds => {
    const now = logState ?? readLogState(connection)
    reader = createStepReader(tables, scan, now.hasOpen === 1)
    return { from: bounds.from, to: Math.min(bounds.to, now.end) }
  }

  /** Returns true once `visit` has enough. */
  const decide = (steps: Steps<boolean>, isOver: () => boolean): boolean => {
    undecided = steps
    for (;;) {
      const next = steps.next()
      if (next.done) {
        undecided = undefined
        return next.value
      }
      if (isOver()) return false
    }
  }

  /** Returns false once nothing is left, `visit` has enough, or the probe is over. */
  const step = (isOver: () => boolean): boolean => {
    if (undecided) {
      if (decide(undecided, isOver)) return false
      if (undecided) return true
    }
    const begun = (rest ??= firstBounds())
    if (begun.from > begun.to || probe?.left() === 0) return false
    const hasMore = visitNext(begun, isOver)
    if (trace) traceRows(connection, trace, visitedBounds(direction, begun, rest))
    return hasMore
  }

  const visitNext = (begun: TimeBounds, isOver: () => boolean): boolean => {
    const where = probe?.isDense() ? undefined : scan.where()
    const { rows, last, count } = where
      ? reader!.readFiltered(begun, where)
      : reader!.readAll(begun, visited)
    const before = visited
    for (const row of rows) {
      rest = beyond(begun, row.created_at, direction)
      visited += 1
      const decision = events.check(row) && visit(row)
      if (typeof decision === 'boolean' ? decision : decide(decision, isOver)) return false
      if (!undecided && !isOver() && probe?.left() !== 0) continue
      // The next step goes on after this row, so the rows of this step count now.
      probe?.passed(
        where ? countRows(connection, visitedBounds(direction, begun, rest)) : visited - before,
      )
      return true
    }
    rest = beyond(begun, last, direction)
    probe?.passed(count)
    return true
  }

  const slice = (): boolean => runTimeSlice(step, { maxSteps: MAX_STEPS })
  while (await connection.retry(slice, options)) await nextTurn()
  return rest!
}

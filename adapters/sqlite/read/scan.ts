import { setImmediate as nextTurn } from 'node:timers/promises'
import type { QueryTrace } from '../../../src/store/trace.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Decision, Steps } from '../../../src/filter/steps.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { Probe } from '../../../src/store-kit/index/probe.js'
import type { ListOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { Marks } from '../index/log-index.js'
import { isUnreadable } from '../connection/database.js'
import { EVENT_COLUMNS, type EventRow, type EventValues, valuesToRow } from '../schema/rows.js'
import type { Tables } from '../schema/tables.js'
import { runTimeSlice } from '../connection/time-slice.js'

export interface BoundedListOptions extends ListOptions {
  /** The time at which the list rejects with `ABORTED`, as `performance.now()` counts. */
  readonly deadline?: number | undefined
}

export interface Scan {
  readonly bounds: TimeBounds
  readonly direction: 'asc' | 'desc'
  /** The pushed down filter. May be a getter: it is read only when SQL is to exclude rows. */
  readonly where: Sql | undefined
  /** The number of rows that are enough if every row matches. */
  readonly wanted?: number | undefined
  /** The state of the log, read before the bounds were set; without it, the scan reads the state. */
  readonly logState?: LogState | undefined
  /** Limits the rows. The scan reports the rows to it, and `visit` reports the matches. */
  readonly probe?: Probe | undefined
}

// Rows between two checks of the time when SQL excludes rows; few at first, as most pages are found
// among the first rows.
const FIRST_STEP = 64
const STEP_GROWTH = 4
const MAX_STEP = 512
// SQL tests attributes up to this length, divided by the number of its parameters, so that a step takes
// some milliseconds of this thread. `visit` tests longer ones, which can pause.
const MAX_SQL_BYTES = 1 << 15
// A time slice ends after this many steps even if they take no time.
const MAX_STEPS = 16
// Rows that one statement reads when every row is checked.
const MIN_BATCH = 8
const MAX_BATCH = 32
const PROBE_BATCH = 16

/** The state of the log at one moment. Events that become visible later have times after `end`. */
export interface LogState extends Marks {
  readonly end: Microseconds
  readonly hasOpen: 0 | 1
}

const LOG_STATE = `SELECT created_at AS end, EXISTS (SELECT 1 FROM daybook_live) AS hasOpen,
  version, appended, sealed FROM daybook_high_water, daybook_index`

export const readLogState = ({ statement }: Connection): LogState =>
  statement(LOG_STATE).get() as LogState

/** The rows of one step. */
interface StepRows {
  readonly rows: Iterable<EventRow>
  /** The time at which the step ends. */
  readonly last: Microseconds
  /** About how many rows the step covers, with those that SQL excludes. */
  readonly count: number
}

const COUNT_ROWS = 'SELECT count(*) AS rows FROM daybook_events WHERE created_at BETWEEN ? AND ?'

const ORDERS = { asc: 'ASC', desc: 'DESC' } as const

const selectText = (direction: Scan['direction'], condition: string): string =>
  `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at BETWEEN ? AND ?
    ${condition} ORDER BY created_at ${ORDERS[direction]}`

const nthTime = (direction: Scan['direction']): string =>
  `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
    ORDER BY created_at ${ORDERS[direction]} LIMIT 1 OFFSET ?`

const selectTimes = (direction: Scan['direction']): string =>
  `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
    ORDER BY created_at ${ORDERS[direction]}`

// Built once: looking up a statement is faster with the same string.
const NTH_TIME = { asc: nthTime('asc'), desc: nthTime('desc') } as const
const SELECT_TIMES = {
  asc: `${selectTimes('asc')} LIMIT ?`,
  desc: `${selectTimes('desc')} LIMIT ?`,
} as const
const SELECT_NEXT = {
  asc: `${selectText('asc', '')} LIMIT ?`,
  desc: `${selectText('desc', '')} LIMIT ?`,
} as const

interface NextRows {
  readonly rows: readonly EventRow[]
  /** The number of rows that were read, with those that could not be. */
  readonly count: number
  /** The time of the last of them. */
  readonly end: Microseconds | undefined
}

/** Reads the rows of each step, with the open events among them. */
interface RowReader {
  /** Reads the next rows without a filter; `visited` rows were read before. */
  readAll(bounds: TimeBounds, visited: number): StepRows
  /** Reads those of the next rows that SQL does not exclude. */
  readFiltered(bounds: TimeBounds, where: Sql): StepRows
}

function createRowReader(
  { connection, events, live }: Tables,
  scan: Scan,
  hasOpen: boolean,
): RowReader {
  const { direction, probe, wanted = Infinity } = scan
  const isDescending = direction === 'desc'
  let size = FIRST_STEP

  /** The bounds of the next `rows` rows. */
  const boundsOfNext = (rest: TimeBounds, rows: number): TimeBounds => {
    const found = connection.statement(NTH_TIME[direction]).get(rest.from, rest.to, rows - 1)
    if (!found) return rest
    const end = (found as EventRow).created_at
    return isDescending ? { from: end, to: rest.to } : { from: rest.from, to: end }
  }

  const nextSize = (): number => {
    if (probe) return Math.min(probe.left(), MAX_STEP)
    const next = size
    size = Math.min(size * STEP_GROWTH, MAX_STEP)
    return next
  }

  // `inOrder` drops the row of an event that was closed after this read.
  const openIn = (bounds: TimeBounds): readonly EventRow[] => {
    if (!hasOpen) return []
    const open = live.between(bounds)
    return isDescending ? open.toReversed() : open
  }
  const isBefore = (a: EventRow, b: EventRow): boolean =>
    isDescending ? a.created_at > b.created_at : a.created_at < b.created_at

  const readAll = (begun: TimeBounds, visited: number): StepRows => {
    const max = probe
      ? Math.min(probe.left(), PROBE_BATCH)
      : Math.min(Math.max(wanted - visited, MIN_BATCH), MAX_BATCH)
    const { from, to } = hasOpen ? boundsOfNext(begun, max) : begun
    const open = openIn({ from, to })
    const { rows, count, end } = nextRows(from, to, max)
    const last = count === max ? end! : isDescending ? from : to
    if (open.length === 0) return { rows, last, count }
    const isIn = ({ created_at }: EventRow): boolean =>
      isDescending ? created_at >= last : created_at <= last
    return { rows: inOrder(rows, open.filter(isIn), isBefore), last, count }
  }

  const timesIn = ({ from, to }: TimeBounds, max: number): readonly Microseconds[] => {
    const times = connection.statement(SELECT_TIMES[direction]).raw(true).all(from, to, max)
    return (times as [Microseconds][]).map(([time]) => time)
  }

  /** The next rows without a filter; one by one if SQLite cannot read some of them. */
  const nextRows = (from: Microseconds, to: Microseconds, max: number): NextRows => {
    try {
      const select = connection.statement(SELECT_NEXT[direction])
      const values = select.raw(true).all(from, to, max) as EventValues[]
      return { rows: values.map(valuesToRow), count: values.length, end: values.at(-1)?.[0] }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      const times = timesIn({ from, to }, max)
      return { rows: [...events.each(times)], count: times.length, end: times.at(-1) }
    }
  }

  /** The rows that SQL does not exclude; from a row on that SQLite cannot read, all rows. */
  function* filteredRows({ from, to }: TimeBounds, where: Sql): Generator<EventRow, void> {
    let rest = { from, to }
    try {
      const condition = `AND (octet_length(attributes) > ? OR (${where.text}))`
      const maxBytes = MAX_SQL_BYTES / (where.params.length || 1)
      const select = connection.statement(selectText(direction, condition))
      const found = select.raw(true).iterate(from, to, maxBytes, ...where.params)
      for (const values of found as IterableIterator<EventValues>) {
        rest = isDescending ? { from, to: values[0] - 1 } : { from: values[0] + 1, to }
        yield valuesToRow(values)
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      yield* events.each(timesIn(rest, MAX_STEP))
    }
  }

  const readFiltered = (begun: TimeBounds, where: Sql): StepRows => {
    const count = nextSize()
    const { from, to } = boundsOfNext(begun, count)
    const open = openIn({ from, to })
    const rows = inOrder(filteredRows({ from, to }, where), open, isBefore)
    return { rows, last: isDescending ? from : to, count }
  }

  return { readAll, readFiltered }
}

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
  const isDescending = direction === 'desc'

  let rest: TimeBounds | undefined
  let reader: RowReader | undefined
  let visited = 0
  /** What is left to decide about the last row. */
  let undecided: Steps<boolean> | undefined

  const firstBounds = (): TimeBounds => {
    const now = logState ?? readLogState(connection)
    reader = createRowReader(tables, scan, now.hasOpen === 1)
    return { from: bounds.from, to: Math.min(bounds.to, now.end) }
  }

  const beyond = ({ from, to }: TimeBounds, time: Microseconds): TimeBounds =>
    isDescending ? { from, to: time - 1 } : { from: time + 1, to }

  /** Adds the rows of a step to the trace; counts them in SQL, as SQL has excluded most of them. */
  const traceRows = (trace: QueryTrace, begun: TimeBounds, left: TimeBounds): void => {
    const resume = trace.pause()
    const [from, to] = isDescending ? [left.to + 1, begun.to] : [begun.from, left.from - 1]
    const { rows } = connection.statement(COUNT_ROWS).get(from, to) as { rows: number }
    if (trace.current) trace.current.rows += rows
    resume()
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
    if (trace) traceRows(trace, begun, rest)
    return hasMore
  }

  const visitNext = (begun: TimeBounds, isOver: () => boolean): boolean => {
    const where = probe?.isDense() ? undefined : scan.where
    const { rows, last, count } = where
      ? reader!.readFiltered(begun, where)
      : reader!.readAll(begun, visited)
    const before = visited
    for (const row of rows) {
      rest = beyond(begun, row.created_at)
      visited += 1
      const decision = events.check(row) && visit(row)
      if (typeof decision === 'boolean' ? decision : decide(decision, isOver)) return false
      if (!undecided && !isOver()) continue
      if (!where) probe?.passed(visited - before)
      return true
    }
    rest = beyond(begun, last)
    probe?.passed(count)
    return true
  }

  const slice = (): boolean => runTimeSlice(step, { maxSteps: MAX_STEPS })
  while (await connection.retry(slice, options)) await nextTurn()
  return rest!
}

/** Merges both by time; of two rows with the same time it yields that of `open`. Reads `rows` lazily. */
function* inOrder(
  rows: Iterable<EventRow>,
  open: readonly EventRow[],
  isBefore: (a: EventRow, b: EventRow) => boolean,
): Generator<EventRow, void> {
  let next = 0
  for (const row of rows) {
    while (next < open.length && isBefore(open[next]!, row)) yield open[next++]!
    if (open[next]?.created_at !== row.created_at) yield row
  }
  yield* open.slice(next)
}

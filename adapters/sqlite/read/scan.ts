import { setImmediate as nextTurn } from 'node:timers/promises'
import type { QueryTrace } from '../../../src/store/trace.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { Probe } from '../../../src/store-kit/index/probe.js'
import type { ListOptions } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { Marks } from '../index/log-index.js'
import { EVENT_COLUMNS, type EventRow, type EventValues, valuesToRow } from '../schema/rows.js'
import type { Tables } from '../schema/tables.js'
import { runTimeSlice } from '../connection/time-slice.js'

export interface Scan {
  readonly bounds: TimeBounds
  readonly direction: 'asc' | 'desc'
  /** What SQL can rule out; asked for where it is to do so. */
  readonly where: Sql | undefined
  /** So many rows will do, where each is one of those that are looked for. */
  readonly wanted?: number | undefined
  /** As it was read before, not after the bounds were known; else it is read. */
  readonly present?: Present | undefined
  /** Told what is gone through; it ends the scan. Whoever visits tells it what matches. */
  readonly probe?: Probe | undefined
}

// Rows between two looks at the time, where SQL passes over them: few at first, as what is asked for
// is mostly found among the first.
const FIRST_STEP = 64
const STEP_GROWTH = 4
const MAX_STEP = 512
// Others get their turn after so many steps even where these take no time.
const MOST_STEPS = 16
// Rows that are read at once, where all of them are looked at.
const LEAST_AT_ONCE = 8
const MOST_AT_ONCE = 32
const PROBED_AT_ONCE = 16

/** The file at some moment: an event that becomes visible later, or is opened, has a time beyond the end. */
export interface Present extends Marks {
  readonly end: Microseconds
  readonly hasOpen: 0 | 1
}

const PRESENT = `SELECT created_at AS end, EXISTS (SELECT 1 FROM daybook_live) AS hasOpen,
  version, appended, sealed FROM daybook_high_water, daybook_index`

export const readPresent = ({ statement }: Connection): Present =>
  statement(PRESENT).get() as Present

/** What a step passes through. */
interface Passed {
  readonly rows: Iterable<EventRow>
  /** Where it ends. */
  readonly last: Microseconds
  /** So many rows are there, or somewhat fewer, those that are ruled out among them. */
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

// Made once, as a statement is found by its text faster where that is no new one.
const NTH_TIME = { asc: nthTime('asc'), desc: nthTime('desc') } as const
const SELECT_NEXT = {
  asc: `${selectText('asc', '')} LIMIT ?`,
  desc: `${selectText('desc', '')} LIMIT ?`,
} as const

/**
 * Gives the events between two times to `visit` until that is true, the open ones among them, in
 * slices so short that the event loop gets its turns. Open ones come whatever `where` says. What becomes
 * visible while it runs is not among them. Gives the stretch of time that is left then.
 */
export async function scanEvents(
  { connection, live }: Tables,
  scan: Scan,
  visit: (row: EventRow) => boolean,
  options: Pick<ListOptions, 'signal' | 'trace'>,
): Promise<TimeBounds> {
  const { bounds, direction, present, probe, wanted = Infinity } = scan
  const { trace } = options
  const isDescending = direction === 'desc'

  let rest: TimeBounds | undefined
  let hasOpen = false
  let size = FIRST_STEP
  let visited = 0

  const begin = (): TimeBounds => {
    const now = present ?? readPresent(connection)
    hasOpen = now.hasOpen === 1
    return { from: bounds.from, to: Math.min(bounds.to, now.end) }
  }

  const beyond = ({ from, to }: TimeBounds, time: Microseconds): TimeBounds =>
    isDescending ? { from, to: time - 1 } : { from: time + 1, to }

  /** The stretch of time of so many of the next rows at the scan's end of what is left. */
  const stretch = (rest: TimeBounds, rows: number): TimeBounds => {
    const found = connection.statement(NTH_TIME[direction]).get(rest.from, rest.to, rows - 1)
    if (!found) return rest
    const end = (found as EventRow).created_at
    return isDescending ? { from: end, to: rest.to } : { from: rest.from, to: end }
  }

  /** Adds the rows from where a step began to where it came to, as SQL passes over most of them. */
  const tellRows = (trace: QueryTrace, begun: TimeBounds, left: TimeBounds): void => {
    const goOn = trace.pause()
    const [from, to] = isDescending ? [left.to + 1, begun.to] : [begun.from, left.from - 1]
    const { rows } = connection.statement(COUNT_ROWS).get(from, to) as { rows: number }
    if (trace.current) trace.current.rows += rows
    goOn()
  }

  /** False once nothing is left, `visit` has enough, or the probe is over. */
  const step = (isOver: () => boolean): boolean => {
    const begun = (rest ??= begin())
    if (begun.from > begun.to || probe?.left() === 0) return false
    const hasMore = pass(begun, isOver)
    if (trace) tellRows(trace, begun, rest)
    return hasMore
  }

  const nextSize = (): number => {
    if (probe) return Math.min(probe.left(), MAX_STEP)
    const next = size
    size = Math.min(size * STEP_GROWTH, MAX_STEP)
    return next
  }

  // An event that is closed in between is met as it was here, and not once more as a row.
  const openIn = (bounds: TimeBounds): readonly EventRow[] => {
    if (!hasOpen) return []
    const open = live.between(bounds)
    return isDescending ? open.toReversed() : open
  }
  const isBefore = (a: EventRow, b: EventRow): boolean =>
    isDescending ? a.created_at > b.created_at : a.created_at < b.created_at

  /** The next rows, each of them. */
  const allOf = (begun: TimeBounds): Passed => {
    const most = probe
      ? Math.min(probe.left(), PROBED_AT_ONCE)
      : Math.min(Math.max(wanted - visited, LEAST_AT_ONCE), MOST_AT_ONCE)
    const { from, to } = hasOpen ? stretch(begun, most) : begun
    const open = openIn({ from, to })
    const select = connection.statement(SELECT_NEXT[direction])
    const values = select.raw(true).all(from, to, most) as EventValues[]
    const last = values.length === most ? values.at(-1)![0] : isDescending ? from : to
    if (open.length === 0) return { rows: values.map(valuesToRow), last, count: values.length }
    const isIn = ({ created_at }: EventRow): boolean =>
      isDescending ? created_at >= last : created_at <= last
    return { rows: inOrder(values, open.filter(isIn), isBefore), last, count: values.length }
  }

  /** Those of the next rows that SQL does not rule out. */
  const someOf = (begun: TimeBounds, where: Sql): Passed => {
    const count = nextSize()
    const { from, to } = stretch(begun, count)
    const open = openIn({ from, to })
    const values = connection
      .statement(selectText(direction, `AND ${where.text}`))
      .raw(true)
      .iterate(from, to, ...where.params) as IterableIterator<EventValues>
    return { rows: inOrder(values, open, isBefore), last: isDescending ? from : to, count }
  }

  const pass = (begun: TimeBounds, isOver: () => boolean): boolean => {
    const where = probe?.isDense() ? undefined : scan.where
    const { rows, last, count } = where ? someOf(begun, where) : allOf(begun)
    const before = visited
    for (const row of rows) {
      rest = beyond(begun, row.created_at)
      visited += 1
      if (visit(row)) return false
      if (!isOver()) continue
      if (!where) probe?.passed(visited - before)
      return true
    }
    rest = beyond(begun, last)
    probe?.passed(count)
    return true
  }

  const turn = (): boolean => runTimeSlice(step, { maxSteps: MOST_STEPS })
  while (await connection.retry(turn, options)) await nextTurn()
  return rest!
}

/** Both together, of two with the same time that of `open`. Takes nothing before it has a row. */
function* inOrder(
  rows: Iterable<EventValues>,
  open: readonly EventRow[],
  isBefore: (a: EventRow, b: EventRow) => boolean,
): Generator<EventRow, void> {
  let next = 0
  for (const values of rows) {
    const row = valuesToRow(values)
    while (next < open.length && isBefore(open[next]!, row)) yield open[next++]!
    if (open[next]?.created_at !== row.created_at) yield row
  }
  yield* open.slice(next)
}

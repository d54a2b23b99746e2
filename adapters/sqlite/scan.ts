import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TimeBounds } from '../../src/filter/bounds.js'
import type { Sql } from '../../src/filter/sql.js'
import type { WaitOptions } from '../../src/store.js'
import type { Microseconds } from '../../src/timestamp.js'
import { EVENT_COLUMNS, type EventRow } from './rows.js'
import type { Tables } from './tables.js'
import { oneTurn } from './turn.js'

export interface Scan {
  readonly bounds: TimeBounds
  readonly direction: 'asc' | 'desc'
  /** What SQL can rule out. */
  readonly where: Sql | undefined
}

// Rows between two looks at the time, where SQL passes over them.
const STEP = 512
// Others get their turn after so many steps even where these take no time.
const MOST_STEPS = 4

/**
 * Gives the events between two times to `visit` until that is true, the open ones among them, in
 * slices so short that the event loop gets its turns. Open ones come whatever `where` says.
 */
export async function scanEvents(
  { connection, live }: Tables,
  { bounds, direction, where }: Scan,
  visit: (row: EventRow) => boolean,
  options: WaitOptions,
): Promise<void> {
  const isDescending = direction === 'desc'
  const order = isDescending ? 'DESC' : 'ASC'
  const select = `SELECT ${EVENT_COLUMNS} FROM daybook_events WHERE created_at BETWEEN ? AND ?
    ${where ? `AND ${where.text}` : ''} ORDER BY created_at ${order}`
  const params = where?.params ?? []

  let rest = bounds
  const goOnAfter = (time: Microseconds): void => {
    rest = isDescending ? { from: rest.from, to: time - 1 } : { from: time + 1, to: rest.to }
  }

  /** The stretch of time of the next rows at the scan's end of what is left. */
  const stretch = (): TimeBounds => {
    const text = `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
      ORDER BY created_at ${order} LIMIT 1 OFFSET ${STEP - 1}`
    const row = connection.statement(text).get(rest.from, rest.to)
    if (!row) return rest
    const end = (row as EventRow).created_at
    return isDescending ? { from: end, to: rest.to } : { from: rest.from, to: end }
  }

  /** False once nothing is left, or `visit` has enough. */
  const step = (isOver: () => boolean): boolean => {
    if (rest.from > rest.to) return false
    const { from, to } = stretch()
    // An event that is closed in between is met as it was here, and not once more as a row.
    const open = live.between({ from, to })
    const rows = connection.statement(select).iterate(from, to, ...params)
    const met = inOrder(
      rows as IterableIterator<EventRow>,
      isDescending ? open.toReversed() : open,
      (a, b) => (isDescending ? a.created_at > b.created_at : a.created_at < b.created_at),
    )
    for (const row of met) {
      goOnAfter(row.created_at)
      if (visit(row)) return false
      if (isOver()) return true
    }
    goOnAfter(isDescending ? from : to)
    return true
  }

  const turn = (): boolean => oneTurn(step, { mostSteps: MOST_STEPS })
  while (await connection.retry(turn, options)) await nextTurn()
}

/** Both together, of two with the same time that of `open`. Takes nothing before it has a row. */
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

import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { Probe } from '../../../src/store-kit/index/probe.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { EventRow } from '../schema/rows.js'
import type { Tables } from '../schema/log-tables.js'
import { createRangeRows, type Direction } from './range-rows.js'

/** The rows of one step of a scan. */
export interface StepRows {
  readonly rows: Iterable<EventRow>
  /** The time at which the step ends. */
  readonly last: Microseconds
  /** About how many rows the step covers, with those that SQL excludes. */
  readonly count: number
}

/** Reads the rows of each step, with the open events among them. */
export interface StepReader {
  /** Reads the next rows without a filter; `visited` rows were read before. */
  readAll(bounds: TimeBounds, visited: number): StepRows
  /** Reads the next rows that SQL does not exclude. */
  readFiltered(bounds: TimeBounds, where: Sql): StepRows
}

export interface StepReaderOptions {
  readonly direction: Direction
  /** The number of rows that are enough if every row matches. */
  readonly wanted?: number | undefined
  /** Limits the rows. The scan reports the rows to it, and `visit` reports the matches. */
  readonly probe?: Probe | undefined
}

// Rows between two checks of the time when SQL excludes rows; few at first, as most pages are found
// among the first rows.
const FIRST_STEP = 64
const STEP_GROWTH = 4
const MAX_STEP = 512
// Rows that one statement reads when every row is checked.
const MIN_BATCH = 8
const MAX_BATCH = 32
const PROBE_BATCH = 16

export function createStepReader(
  tables: Tables,
  { direction, probe, wanted = Infinity }: StepReaderOptions,
  hasOpen: boolean,
): StepReader {
  const stored = createRangeRows(tables, direction)
  const isDescending = direction === 'desc'
  let size = FIRST_STEP

  const nextSize = (): number => {
    if (probe) return Math.min(probe.left(), MAX_STEP)
    const next = size
    size = Math.min(size * STEP_GROWTH, MAX_STEP)
    return next
  }

  // `inOrder` drops the row of an event that was closed after this read.
  const openIn = (bounds: TimeBounds): readonly EventRow[] => {
    if (!hasOpen) return []
    const open = tables.live.between(bounds)
    return isDescending ? open.toReversed() : open
  }

  const isBefore = (a: EventRow, b: EventRow): boolean =>
    isDescending ? a.created_at > b.created_at : a.created_at < b.created_at

  return {
    readAll(begun, visited) {
      const max = probe
        ? Math.min(probe.left(), PROBE_BATCH)
        : Math.min(Math.max(wanted - visited, MIN_BATCH), MAX_BATCH)
      const bounds = hasOpen ? stored.boundsOfFirst(begun, max) : begun
      const open = openIn(bounds)
      const { rows, count, end } = stored.first(bounds, max)
      const last = count === max ? end! : isDescending ? bounds.from : bounds.to
      if (open.length === 0) return { rows, last, count }
      const isIn = ({ created_at }: EventRow): boolean =>
        isDescending ? created_at >= last : created_at <= last
      return { rows: inOrder(rows, open.filter(isIn), isBefore), last, count }
    },

    readFiltered(begun, where) {
      const count = nextSize()
      const bounds = stored.boundsOfFirst(begun, count)
      const open = openIn(bounds)
      const rows = inOrder(stored.filtered(bounds, where, MAX_STEP), open, isBefore)
      return { rows, last: isDescending ? bounds.from : bounds.to, count }
    },
  }
}

/** Merges both by time; of two rows with the same time it yields the row of `open`. Reads `rows` lazily. */
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

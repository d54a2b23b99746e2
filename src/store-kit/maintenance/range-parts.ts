import type { Microseconds } from '../../event/timestamp.js'
import type { IndexPart } from '../index/part.js'
import { unindexedPart } from '../index/unindexed-part.js'
import { type Sql, sql } from '../sql.js'
import type { Dialect } from './dialect.js'
import type { SegmentRow } from './index-rows.js'
import type { Program, Row } from './program.js'

/** Rows that are read at once. */
const STEP = 2048

/** The times of all events in the range of a segment. */
function* rangePart(
  { tables }: Dialect,
  { id, first, last }: Pick<SegmentRow, 'id' | 'first' | 'last'>,
): Program<IndexPart> {
  const times: Microseconds[] = []
  for (;;) {
    const rows = yield sql(
      `SELECT created_at FROM ${tables.events} WHERE created_at > ? AND created_at <= ?
       ORDER BY created_at LIMIT ${STEP}`,
      times.at(-1) ?? first - 1,
      last,
    )
    for (const [time] of rows) times.push(Number(time))
    if (rows.length < STEP) return unindexedPart(`damaged-${id}`, times)
  }
}

/** The ranges of damaged segments, read statement by statement, so that a query can stop in between. */
export interface RangeParts {
  /** Takes these segments; keeps what was read of those that stay. */
  update(damaged: readonly SegmentRow[]): void
  /** The next statement to run; `undefined` if everything was read. */
  statement(): Sql | undefined
  /** Takes the rows of the next statement. */
  add(rows: readonly Row[]): void
  /** Call it once everything was read. */
  parts(): readonly IndexPart[]
}

/**
 * Makes parts of the index that stand for damaged segments: any event in their ranges may match a filter. An event that is
 * added to a range later is listed as late.
 */
export function createRangeParts(dialect: Dialect): RangeParts {
  type Range = { readonly work: Program<IndexPart>; step: IteratorResult<Sql, IndexPart> }
  let ranges = new Map<number, Range>()
  const begin = (row: SegmentRow): Range => {
    const work = rangePart(dialect, row)
    return { work, step: work.next([]) }
  }
  const unread = (): Range | undefined => [...ranges.values()].find(({ step }) => !step.done)
  return {
    update(damaged) {
      ranges = new Map(damaged.map((row) => [row.id, ranges.get(row.id) ?? begin(row)]))
    },
    statement: () => unread()?.step.value as Sql | undefined,
    add(rows) {
      const range = unread()!
      range.step = range.work.next(rows)
    },
    parts: () => [...ranges.values()].map(({ step }) => step.value as IndexPart),
  }
}

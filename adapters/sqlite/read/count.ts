import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../../src/event/event.js'
import type { Span } from '../../../src/store-kit/counting/count-plan.js'
import type { CountsQuery, EventCounts, TimeRange } from '../../../src/store/counts.js'
import type { GroupField } from '../../../src/store-kit/counting/group-fields.js'
import { createTally, type Tally } from '../../../src/store-kit/counting/tally.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import { type Decision, thenDecided } from '../../../src/filter/steps.js'
import { createTimeSlices, decideInTurns } from '../../../src/filter/time-slices.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { type Clock, formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { pushDownAttribute } from './pushdown.js'
import { pushDownWhere } from './pushdown-where.js'
import { type EventRow, rowToLazyEvent } from '../schema/rows.js'
import { scanEvents } from './scan.js'
import type { Tables } from '../schema/tables.js'
import { runTimeSlice } from '../connection/time-slice.js'

// Rows that one statement groups.
const STEP_ROWS = 1000

const SPAN = `SELECT min(first) AS first, max(last) AS last FROM (
    SELECT min(created_at) AS first, max(created_at) AS last FROM daybook_live
    UNION ALL SELECT (SELECT min(created_at) FROM daybook_events), (SELECT max(created_at) FROM daybook_events)
  )`

const HAS_EVENTS = `SELECT EXISTS (SELECT 1 FROM daybook_events WHERE created_at BETWEEN ? AND ?)
  OR EXISTS (SELECT 1 FROM daybook_live WHERE created_at BETWEEN ? AND ?) AS hasSome`

const STEP_END = `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
  ORDER BY created_at LIMIT 1 OFFSET ${STEP_ROWS - 1}`

/** Implements `EventStore.count`. */
export async function countEvents(
  tables: Tables,
  query: CountsQuery,
  clock: Clock,
  options: WaitOptions,
): Promise<EventCounts> {
  const span = await tables.connection.retry(() => spanOf(tables, clock()), options)
  const tally = createTally(query, span)
  if (tally.groupFields) await countGroups(tables, tally, tally.groupFields, options)
  else await countRows(tables, tally, options)
  return createTimeSlices().finish(tally.counts())
}

function spanOf({ connection }: Tables, now: Microseconds): Span {
  const { first, last } = connection.statement(SPAN).get() as {
    readonly first: Microseconds | null
    readonly last: Microseconds | null
  }
  return { first: first ?? undefined, last: last ?? 0, now }
}

/** Checked first, as most slices of a small log are empty. */
function isEmpty({ connection }: Tables, { from, to }: TimeRange): boolean {
  const row = connection.statement(HAS_EVENTS).get(from, to, from, to)
  return (row as { readonly hasSome: 0 | 1 }).hasSome === 0
}

interface Group extends Pick<EventRow, 'type'>, Partial<Pick<EventRow, 'username' | 'system'>> {
  readonly count: number
}

/** Counts with GROUP BY, which takes a fraction of the time of reading each event. */
async function countGroups(
  tables: Tables,
  tally: Tally,
  fields: readonly GroupField[],
  options: WaitOptions,
): Promise<void> {
  const { connection } = tables
  const matches = compileFilterInSteps(tally.shared)
  const where = pushDownWhere(tally.shared, pushDownAttribute)
  const columns = fields.join(', ')
  // One statement, so that an event that closes meanwhile is counted once.
  const select = `SELECT ${columns}, count(*) AS count FROM daybook_events
      WHERE created_at BETWEEN ? AND ? ${where ? `AND ${where.text}` : ''} GROUP BY ${columns}
    UNION ALL SELECT ${columns}, 1 FROM daybook_live WHERE created_at BETWEEN ? AND ?`
  const slices = tally.rounds.flat()
  /** What the last time slice has read. */
  const found: { readonly cell: number; readonly event: AuditEvent; readonly count: number }[] = []
  let next = 0
  let from = slices[0]?.from ?? 0

  const groupsIn = (to: Microseconds): readonly Group[] =>
    connection.statement(select).all(from, to, ...(where?.params ?? []), from, to) as Group[]

  const step = (): boolean => {
    const slice = slices[next]
    if (!slice || tally.isOver()) return false
    let { to } = slice
    if (!isEmpty(tables, { from, to })) {
      const last = connection.statement(STEP_END).get(from, to) as EventRow | undefined
      to = last?.created_at ?? to
      // All times of a slice are within the bounds of the filter, so one of them stands for the group.
      const created_at = formatTimestamp(from)
      for (const { count, type, username = null, system } of groupsIn(to)) {
        const own = { id: '', created_at, type, username, system: system === 1, source: null }
        found.push({ cell: slice.cell, event: { ...own, attributes: {} }, count })
      }
    }
    tally.seen({ ...slice, from, to })
    if (to === slice.to) next += 1
    from = to === slice.to ? (slices[next]?.from ?? 0) : to + 1
    return true
  }
  for (;;) {
    const hasMore = await connection.retry(() => runTimeSlice(step), options)
    await decideInTurns(found.splice(0), ({ cell, event, count }) =>
      thenDecided(matches(event), (isMatch) => isMatch && tally.add(cell, event, count)),
    )
    if (!hasMore) return
    await nextTurn()
  }
}

async function countRows(tables: Tables, tally: Tally, options: WaitOptions): Promise<void> {
  const matches = compileFilterInSteps(tally.shared)
  const where = pushDownWhere(tally.shared, pushDownAttribute)
  const slices = createTimeSlices()
  for (const slice of tally.rounds.flat()) {
    if (tally.isOver()) return
    if (await tables.connection.retry(() => isEmpty(tables, slice), options)) {
      tally.seen(slice)
      continue
    }
    let { to } = slice
    const visit = (row: EventRow): Decision => {
      const event = rowToLazyEvent(row)
      const isAdded = thenDecided(
        matches(event),
        (isMatch) => isMatch && tally.add(slice.cell, event),
      )
      return thenDecided(isAdded, () => {
        if (!tally.isOver()) return false
        to = row.created_at
        return true
      })
    }
    await scanEvents(
      tables,
      { bounds: slice, direction: 'asc', where: () => where },
      visit,
      options,
    )
    tally.seen({ ...slice, to })
    if (slices.isOver()) await slices.next()
  }
}

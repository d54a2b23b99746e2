import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AuditEvent } from '../../../src/event/event.js'
import { formatTimestamp, type Microseconds } from '../../../src/event/timestamp.js'
import { compileFilterInSteps } from '../../../src/filter/evaluate.js'
import { type Decision, thenDecided } from '../../../src/filter/steps.js'
import { decideInTurns } from '../../../src/filter/time-slices.js'
import type { Slice } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import type { TimeRange } from '../../../src/store/counts.js'
import type { WaitOptions } from '../../../src/store/store.js'
import { runTimeSlice } from '../connection/time-slice.js'
import type { EventRow } from '../schema/rows.js'
import type { Tables } from '../schema/log-tables.js'
import { pushDownEvents } from './pushdown-event.js'

// Rows that one statement groups.
const STEP_ROWS = 1000

/** Events of a slice that are equal for the query. */
interface Group extends Pick<EventRow, 'type'>, Partial<Pick<EventRow, 'username' | 'system'>> {
  readonly count: number
}

interface FoundGroup extends Group {
  /** All times of a slice are within the bounds of the filter, so one of them stands for the group. */
  readonly slice: Slice
}

const HAS_EVENTS = `SELECT EXISTS (SELECT 1 FROM daybook_events WHERE created_at BETWEEN ? AND ?)
  OR EXISTS (SELECT 1 FROM daybook_live WHERE created_at BETWEEN ? AND ?) AS hasSome`

const STEP_END = `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
  ORDER BY created_at LIMIT 1 OFFSET ${STEP_ROWS - 1}`

/** Checked first, as most slices of a small log are empty. */
export function isEmptyRange({ connection }: Tables, { from, to }: TimeRange): boolean {
  const row = connection.statement(HAS_EVENTS).get(from, to, from, to)
  return (row as { readonly hasSome: 0 | 1 }).hasSome === 0
}

/** Counts equal events of the slices as one, with GROUP BY, which takes a fraction of the time of reading each event. */
export async function countGroups(
  tables: Tables,
  tally: Tally,
  slices: readonly Slice[],
  options: WaitOptions,
): Promise<void> {
  const { connection } = tables
  const where = pushDownEvents(tally.shared)
  const columns = tally.groupFields!.join(', ')
  // One statement, so that an event that closes meanwhile is counted once.
  const select = `SELECT ${columns}, count(*) AS count FROM daybook_events
      WHERE created_at BETWEEN ? AND ? ${where ? `AND ${where.text}` : ''} GROUP BY ${columns}
    UNION ALL SELECT ${columns}, 1 FROM daybook_live WHERE created_at BETWEEN ? AND ?`
  /** Groups that the last time slice has read. */
  const found: FoundGroup[] = []
  let next = 0
  let from = slices[0]?.from ?? 0

  const groupsIn = (to: Microseconds): readonly Group[] =>
    connection.statement(select).all(from, to, ...(where?.params ?? []), from, to) as Group[]

  const step = (): boolean => {
    const slice = slices[next]
    if (!slice || tally.isOver()) return false
    let { to } = slice
    if (!isEmptyRange(tables, { from, to })) {
      const last = connection.statement(STEP_END).get(from, to) as EventRow | undefined
      to = last?.created_at ?? to
      for (const group of groupsIn(to)) found.push({ ...group, slice })
    }
    tally.seen({ ...slice, from, to })
    if (to === slice.to) next += 1
    from = to === slice.to ? (slices[next]?.from ?? 0) : to + 1
    return true
  }
  for (;;) {
    const hasMore = await connection.retry(() => runTimeSlice(step), options)
    await addGroups(tally, found.splice(0))
    if (!hasMore) return
    await nextTurn()
  }
}

async function addGroups(tally: Tally, groups: readonly FoundGroup[]): Promise<void> {
  const matches = compileFilterInSteps(tally.shared)
  await decideInTurns(groups, ({ slice, count, type, username = null, system }) => {
    const created_at = formatTimestamp(slice.from)
    const own = { id: '', created_at, type, username, system: system === 1, source: null }
    const event: AuditEvent = { ...own, attributes: {} }
    const add = (isMatch: boolean): Decision => isMatch && tally.add(slice.cell, event, count)
    return thenDecided(matches(event), add)
  })
}

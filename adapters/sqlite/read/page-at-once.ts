import type { AuditEvent } from '../../../src/event/event.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import type { EventPage } from '../../../src/store/store.js'
import type { QueryTrace } from '../../../src/store/trace.js'
import { isUnreadable } from '../connection/database.js'
import { LIMIT } from '../connection/limit.js'
import { EVENT_COLUMNS, type EventRow, type EventValues, isIntact } from '../schema/rows.js'
import type { Tables } from '../schema/log-tables.js'
import type { Direction } from './range-rows.js'

/** A longer page is read in steps, between which the event loop turns. */
export const MAX_LIMIT_AT_ONCE = 31

// One statement sees the open events and the others at the same moment.
const selectText = (order: 'ASC' | 'DESC'): string =>
  `SELECT ${EVENT_COLUMNS} FROM daybook_events
    WHERE created_at BETWEEN ? AND ? AND NOT EXISTS (SELECT 1 FROM daybook_live)
    ORDER BY created_at ${order} ${LIMIT}`

const SELECT: Readonly<Record<Direction, string>> = {
  asc: selectText('ASC'),
  desc: selectText('DESC'),
}

export interface PageAtOnce {
  /** The limit is at most {@link MAX_LIMIT_AT_ONCE}. */
  readonly query: EventQuery
  /** The direction in time from which the page is taken. */
  readonly direction: Direction
  /** The whole filter. */
  readonly bounds: TimeBounds
  readonly toEvent: (row: EventRow) => AuditEvent
  readonly trace: QueryTrace | undefined
}

/**
 * Reads a page with one statement. `undefined` if a scan has to read it: if no stored event is within the bounds, live
 * events are open, or a row is damaged.
 */
export function readPageAtOnce(
  { connection: { statement }, events }: Pick<Tables, 'connection' | 'events'>,
  { query: { limit, sorts }, direction, bounds, toEvent, trace }: PageAtOnce,
): EventPage | undefined {
  const step = trace?.enter('scan')
  const found: AuditEvent[] = []
  try {
    const select = statement(SELECT[direction]).raw(true)
    for (const values of select.all(bounds.from, bounds.to, limit + 1) as EventValues[]) {
      const row = events.open(values)
      if (!isIntact(row)) return undefined
      found.push(toEvent(row))
    }
  } catch (error) {
    if (isUnreadable(error)) return undefined
    throw error
  }
  if (found.length === 0) return undefined
  if (step) {
    step.rows += found.length
    step.checked += found.length
    step.matched += found.length
  }
  const truncated = found.length > limit
  if (truncated) found.pop()
  return { events: sorts.length === 0 ? found.toReversed() : found, truncated }
}

import type { AuditEvent } from '../../src/event.js'
import type { EventQuery } from '../../src/filter/ast.js'
import type { TimeBounds } from '../../src/filter/bounds.js'
import type { EventCollector } from '../../src/filter/collect.js'
import type { IndexFilter } from '../../src/indexing/index-filter.js'
import type { ListOptions } from '../../src/store.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { Indexed } from './index-run.js'
import { narrowAttribute } from './narrow.js'
import { narrowWhere } from './narrow-where.js'
import type { EventRow } from './rows.js'
import { scanEvents } from './scan.js'

/** A list that is being answered. */
export interface Answer {
  readonly indexed: Indexed
  readonly query: EventQuery
  readonly filter: IndexFilter | undefined
  readonly matches: (event: AuditEvent) => boolean
  readonly toEvent: (row: EventRow) => AuditEvent
  readonly options: ListOptions
}

export const isEmpty = ({ from, to }: TimeBounds): boolean => from > to

/** What of the bounds the index knows, and what it does not. */
export function splitAt(
  { from, to }: TimeBounds,
  covered: Microseconds,
): { readonly known: TimeBounds; readonly others: TimeBounds } {
  return {
    known: { from, to: Math.min(to, covered) },
    others: { from: Math.max(from, covered + 1), to },
  }
}

/** Looks at the rows one by one that SQL cannot rule out; true once there are enough. */
export async function scanRows(
  { indexed: { tables }, query, matches, toEvent, options }: Answer,
  collector: EventCollector,
  bounds: TimeBounds,
  method: 'probe' | 'scan',
  onMatch?: () => void,
): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const where = narrowWhere(query.where, narrowAttribute)
  options.trace?.enter(method)
  let isFull = false
  const visit = (row: EventRow): boolean => {
    const event = toEvent(row)
    if (!matches(event)) return false
    onMatch?.()
    return (isFull = collector.add(event))
  }
  await scanEvents(tables, { bounds, direction: collector.direction, where }, visit, options)
  return isFull
}

import type { AuditEvent } from '../../../src/event/event.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import type { EventCollector } from '../../../src/store-kit/collect.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { IndexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { Probe } from '../../../src/store-kit/index/probe.js'
import type { ListOptions } from '../../../src/store/store.js'
import type { Indexed } from './index-run.js'
import { narrowAttribute } from './pushdown.js'
import { narrowWhere } from './pushdown-where.js'
import type { EventRow } from '../schema/rows.js'
import { type Present, scanEvents } from './scan.js'

/** A list that is being answered. */
export interface Answer {
  readonly indexed: Indexed
  readonly query: EventQuery
  /** What the index can tell of the query; `undefined` where it can tell no more than the bounds do. */
  readonly filter: IndexFilter | undefined
  readonly matches: (event: AuditEvent) => boolean
  readonly toEvent: (row: EventRow) => AuditEvent
  /** As it is when the list begins. */
  readonly present: Present
  readonly options: ListOptions
}

/**
 * Looks at the rows one by one that SQL cannot rule out, as far as a probe goes where there is one. Gives
 * what is left then; `undefined` once there are enough.
 */
export async function scanRows(
  { indexed: { tables }, query, filter, matches, toEvent, present, options }: Answer,
  collector: EventCollector,
  bounds: TimeBounds,
  probe?: Probe,
): Promise<TimeBounds | undefined> {
  if (isEmpty(bounds)) return bounds
  let narrowed: { readonly where: Sql | undefined } | undefined
  options.trace?.enter(probe ? 'probe' : 'scan')
  let isFull = false
  const visit = (row: EventRow): boolean => {
    const event = toEvent(row)
    if (!matches(event)) return false
    probe?.matched()
    return (isFull = collector.add(event))
  }
  const scan = {
    bounds,
    direction: collector.direction,
    get where() {
      narrowed ??= { where: filter && narrowWhere(query.where, narrowAttribute) }
      return narrowed.where
    },
    wanted: filter ? undefined : query.limit + 1,
    present,
    probe,
  }
  const rest = await scanEvents(tables, scan, visit, options)
  return isFull ? undefined : rest
}

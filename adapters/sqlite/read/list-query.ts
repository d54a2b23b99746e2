import type { AuditEvent } from '../../../src/event/event.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { type Decide, type Decision, thenDecided } from '../../../src/filter/steps.js'
import { isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import type { EventCollector } from '../../../src/store-kit/collect.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { IndexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { Probe } from '../../../src/store-kit/index/probe.js'
import type { Indexed } from './index-run.js'
import { pushDownAttribute } from './pushdown.js'
import { pushDownWhere } from './pushdown-where.js'
import type { EventRow } from '../schema/rows.js'
import { type BoundedListOptions, type LogState, scanEvents } from './scan.js'

/** The state of one list query. */
export interface ListQuery {
  readonly indexed: Indexed
  readonly query: EventQuery
  /** The part of the filter that the index can answer; `undefined` if that is no more than the bounds. */
  readonly filter: IndexFilter | undefined
  readonly matches: Decide<AuditEvent>
  readonly toEvent: (row: EventRow) => AuditEvent
  /** The state of the log when the list begins. */
  readonly logState: LogState
  readonly options: BoundedListOptions
}

/**
 * Reads the rows that SQL cannot rule out one by one, up to the end of the probe if there is one.
 * Returns the bounds that are left; `undefined` once the page is full.
 */
export async function scanRows(
  { indexed: { tables }, query, filter, matches, toEvent, logState, options }: ListQuery,
  collector: EventCollector,
  bounds: TimeBounds,
  probe?: Probe,
): Promise<TimeBounds | undefined> {
  if (isEmpty(bounds)) return bounds
  let pushdown: { readonly where: Sql | undefined } | undefined
  options.trace?.enter(probe ? 'probe' : 'scan')
  let isFull = false
  const full = (is: boolean): boolean => (isFull = is)
  const take = (event: AuditEvent): Decision => {
    probe?.matched()
    return thenDecided(collector.add(event), full)
  }
  const visit = (row: EventRow): Decision => {
    const event = toEvent(row)
    const act = (isMatch: boolean): Decision => {
      if (isMatch) return take(event)
      probe?.missed(row.attributes.length)
      return false
    }
    return thenDecided(matches(event), act)
  }
  const scan = {
    bounds,
    direction: collector.direction,
    where() {
      pushdown ??= { where: filter && pushDownWhere(query.where, pushDownAttribute) }
      return pushdown.where
    },
    wanted: filter ? undefined : query.limit + 1,
    logState,
    probe,
  }
  const rest = await scanEvents(tables, scan, visit, options)
  return isFull ? undefined : rest
}

import type { QueryTrace } from '../../../src/store/trace.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { isEmpty, timeBounds, type TimeBounds } from '../../../src/filter/bounds.js'
import { scanDirection } from '../../../src/filter/order.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import { type IndexFilter, indexFilter } from '../../../src/store-kit/index/index-filter.js'
import { isIndexedOrder } from '../../../src/store-kit/index/index-list.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { Indexed } from './answer.js'
import { inlined } from './inline.js'
import { probeStatement, scanStatement } from './list-scan.js'
import type { Names } from '../schema/names.js'
import { narrowEvents } from './pushdown-event.js'
import { MAX_TIME } from './ranges.js'
import type { Opening } from '../log/reader.js'

/** What of all time a query asks for, in whole numbers. */
export function listBounds(query: Pick<EventQuery, 'where'>): TimeBounds {
  const { from, to } = timeBounds(query.where)
  return { from: Math.max(from, 0), to: Math.min(to, MAX_TIME) }
}

export interface ListRequest {
  readonly query: EventQuery
  readonly lazy?: boolean | undefined
  readonly trace?: QueryTrace | undefined
}

/** What of a list can be told before there is a snapshot. */
export interface ListPlan extends ListRequest {
  readonly bounds: TimeBounds
  /** `undefined` for orders other than that of the times. */
  readonly direction: Order | undefined
  /** What the index can tell of the filter, and what SQL can. */
  readonly filter: IndexFilter | undefined
  readonly where: Sql | undefined
}

export function planList(request: ListRequest, { foreignIds }: Names): ListPlan {
  const { where, sorts } = request.query
  return {
    ...request,
    bounds: listBounds(request.query),
    direction: scanDirection(sorts),
    filter: indexFilter(where),
    where: narrowEvents(where, foreignIds),
  }
}

/** How many rows to look at before the index is asked; none where that was in vain the last time. */
export function firstProbeOf(
  filter: IndexFilter | undefined,
  { index, firstProbe }: Indexed,
): number {
  return index && filter && index.probeHistory.of(filter) === 'index' ? 0 : firstProbe
}

/**
 * What the list is going to ask in any case, or most likely. A trace tells of each step by itself, so
 * nothing is asked ahead of it.
 */
export function openList(plan: ListPlan, indexed: Indexed): Opening {
  const { trace, bounds } = plan
  if (trace || isEmpty(bounds)) return {}
  return { ...openRows(plan, indexed), ...openIndex(plan, indexed) }
}

function openRows(plan: ListPlan, indexed: Indexed): Opening {
  const { direction, bounds, where, filter, query } = plan
  const { index } = indexed
  if (!direction) return {}
  const least = query.limit + 1
  if (!where && !(filter && index)) {
    const scan = inlined(scanStatement({ where, indexed }, direction, bounds, least))
    return scan === undefined ? {} : { scan }
  }
  const size = firstProbeOf(filter, indexed)
  if (size === 0) return {}
  const probe = inlined(probeStatement({ where, indexed }, direction, bounds, size, least))
  return probe === undefined ? {} : { probe }
}

/** The events that are in no segment yet are read where the index has been asked the last time. */
function openIndex({ direction, filter, query }: ListPlan, { index }: Indexed): Opening {
  if (!index) return {}
  const isAsked = direction
    ? filter && index.probeHistory.of(filter) !== 'rows'
    : filter || isIndexedOrder(query.sorts)
  return isAsked ? { index: index.statement() } : {}
}

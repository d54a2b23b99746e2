import type { QueryTrace } from '../../../src/store/trace.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import { isEmpty, timeBounds, type TimeBounds } from '../../../src/filter/bounds.js'
import { scanDirection } from '../../../src/filter/order.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import {
  type IndexFilter,
  indexFilter,
  leadsByValues,
} from '../../../src/store-kit/index/index-filter.js'
import { isIndexedOrder } from '../../../src/store-kit/index/index-list.js'
import type { ProbeSizes } from '../../../src/store-kit/index/probe.js'
import { probeOf } from '../../../src/store-kit/planning/list-planner.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { Indexed } from './list-query.js'
import { inlined } from './inline.js'
import { probeStatement, scanStatement } from './list-scan.js'
import type { Names } from '../schema/names.js'
import { nearBounds, type PartitionedLog } from './near-bounds.js'
import { pushDownEvents } from './pushdown-event.js'
import { MAX_TIME, VALUE_PROBE_SIZE } from './ranges.js'
import type { Opening } from '../log/snapshot.js'

/** The time range of a query, in whole microseconds. */
export function listBounds(query: Pick<EventQuery, 'where'>): TimeBounds {
  const { from, to } = timeBounds(query.where)
  return { from: Math.max(from, 0), to: Math.min(to, MAX_TIME) }
}

export interface ListRequest {
  readonly query: EventQuery
  readonly lazy?: boolean | undefined
  readonly trace?: QueryTrace | undefined
}

/** The plan of a list query, made before there is a snapshot. */
export interface ListPlan extends ListRequest {
  readonly bounds: TimeBounds
  /** The part of the bounds that a list by time reads first. */
  readonly near: TimeBounds
  /** `undefined` if the list is not sorted by time. */
  readonly direction: Order | undefined
  /** The part of the filter that the index can answer; `undefined` if none. */
  readonly filter: IndexFilter | undefined
  /** The part of the filter that SQL can test; `undefined` if none. */
  readonly where: Sql | undefined
}

export function planList(
  request: ListRequest,
  { foreignIds }: Names,
  log?: PartitionedLog,
): ListPlan {
  const { where, sorts } = request.query
  const bounds = listBounds(request.query)
  const direction = scanDirection(sorts)
  return {
    ...request,
    bounds,
    near: log && direction ? nearBounds(bounds, direction, log) : bounds,
    direction,
    filter: indexFilter(where),
    where: pushDownEvents(where, foreignIds),
  }
}

/** The rows are read together with the start of the snapshot, and no further than the page needs. */
export const probeSizes = (firstProbe: number): ProbeSizes => ({
  any: firstProbe,
  forValues: VALUE_PROBE_SIZE,
})

/**
 * The statements that the list will certainly or probably need, to be sent with BEGIN. A traced list
 * sends none ahead, so that each step is measured by itself.
 */
export function openList(plan: ListPlan, indexed: Indexed): Opening {
  const { trace, bounds } = plan
  if (trace || isEmpty(bounds)) return {}
  return { ...openRows(plan, indexed), ...openIndex(plan, indexed) }
}

function openRows(plan: ListPlan, indexed: Indexed): Opening {
  const { direction, near, where, filter, query } = plan
  const { index } = indexed
  if (!direction) return {}
  const least = query.limit + 1
  if (!filter || !index) {
    const scan = inlined(scanStatement({ where, indexed }, direction, near, least))
    return scan === undefined ? {} : { scan }
  }
  const size = probeOf(filter, probeSizes(indexed.firstProbe)).left()
  if (size === 0) return {}
  const request = { order: direction, bounds: near, count: size, most: least }
  const probe = inlined(probeStatement({ where, indexed }, request))
  return probe === undefined ? {} : { probe }
}

/** Reads what is new in the index if the list needs the index, or is likely to need it soon after the probe. */
function openIndex({ direction, filter, query }: ListPlan, { index }: Indexed): Opening {
  if (!index) return {}
  if (direction) return filter && leadsByValues(filter) ? { index: index.statement(true) } : {}
  return filter || isIndexedOrder(query.sorts) ? { index: index.statement() } : {}
}

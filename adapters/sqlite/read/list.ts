import { tracedFilter } from '../../../src/store/trace.js'
import { type EventQuery, type Grouping, isAlternative } from '../../../src/filter/ast.js'
import { setsTimeBound, type TimeBounds, timeBounds } from '../../../src/filter/bounds.js'
import { scanDirection } from '../../../src/filter/order.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { EventPage } from '../../../src/store/store.js'
import { lazyPage } from '../../../src/store-kit/lazy-page.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import type { ListQuery } from './list-query.js'
import type { Indexed } from './index-run.js'
import { listInTime } from './list-in-time.js'
import { listSorted } from './list-sorted.js'
import { MAX_LIMIT_AT_ONCE, readPageAtOnce } from './page-at-once.js'
import { rowToCheckedEvent, rowToEvent, rowToLazyEvent } from '../schema/rows.js'
import type { Direction } from './range-rows.js'
import { type BoundedListOptions, readLogState } from './scan.js'

/** The rows that a query reads in the order of time. */
interface Scanned {
  readonly direction: Direction | undefined
  readonly bounds: TimeBounds
  /** The bounds are the whole filter. */
  readonly hasBounds: boolean
}

/**
 * Returns a page of matching events. A short page that no filter restricts is read at once, and returned without a promise if no
 * other connection holds the lock. Another list by time first reads the newest rows one by one, as most
 * pages are found among them; if few of these match, the index finds the others. Rows are read one by
 * one where the index cannot test the filter, or does not cover the events yet.
 */
export function listEvents(
  indexed: Indexed,
  query: EventQuery,
  options: BoundedListOptions,
): EventPage | Promise<EventPage> {
  const { tables } = indexed
  const direction = scanDirection(query.sorts)
  const { from, to } = timeBounds(query.where)
  const scanned: Scanned = {
    direction,
    bounds: { from: Math.max(from, 0), to },
    hasBounds: isBounded(query.where),
  }
  const { bounds, hasBounds } = scanned
  const inSteps = (): Promise<EventPage> => listInSteps(indexed, query, scanned, options)
  if (!direction || !hasBounds || query.limit > MAX_LIMIT_AT_ONCE) return inSteps()
  const toEvent = options.lazy ? rowToLazyEvent : rowToEvent
  const asked = { query, direction, bounds, toEvent, trace: options.trace }
  const page = tables.connection.attempt(() => readPageAtOnce(tables, asked), options)
  if (page instanceof Promise) return page.then((read) => read ?? inSteps())
  return page ?? inSteps()
}

async function listInSteps(
  indexed: Indexed,
  query: EventQuery,
  { direction, bounds, hasBounds }: Scanned,
  options: BoundedListOptions,
): Promise<EventPage> {
  const { connection } = indexed.tables
  // Events that become visible after this have later times.
  const logState = await connection.retry(() => readLogState(connection), options)
  const list: ListQuery = {
    indexed,
    query,
    filter: hasBounds ? undefined : indexFilter(query.where),
    // A scan visits only events within the bounds, so nothing else needs a test.
    matches: tracedFilter(
      options.trace,
      direction && hasBounds ? () => true : compileStoredFilter(query.where),
    ),
    toEvent: options.lazy ? rowToLazyEvent : rowToCheckedEvent,
    logState,
    options,
  }
  const known = { from: bounds.from, to: Math.min(bounds.to, logState.end) }
  const page = direction ? await listInTime(list, direction, known) : await listSorted(list, known)
  return lazyPage(page, options.lazy === true)
}

/** True if the filter consists of bounds on the time only. */
function isBounded(where: Grouping | undefined): boolean {
  if (!where) return true
  return (
    !isAlternative(where) &&
    where.conditions.every(setsTimeBound) &&
    where.groupings.every(isBounded)
  )
}

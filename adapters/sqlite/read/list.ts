import type { AuditEvent } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type EventQuery, type Grouping, isAlternative } from '../../../src/filter/ast.js'
import { isEmpty, setsTimeBound, type TimeBounds, timeBounds } from '../../../src/filter/bounds.js'
import { scanDirection } from '../../../src/filter/order.js'
import { thenDecided } from '../../../src/filter/steps.js'
import { type IndexFilter, indexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { ProbeSizes } from '../../../src/store-kit/index/probe.js'
import { overlaps } from '../../../src/store-kit/index/time-order.js'
import { unindexedPart } from '../../../src/store-kit/index/unindexed-part.js'
import { lazyPage } from '../../../src/store-kit/lazy-page.js'
import {
  listInTime,
  type ListPorts,
  type Visit,
} from '../../../src/store-kit/planning/list-planner.js'
import { listSorted } from '../../../src/store-kit/planning/list-sorted.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import type { EventPage } from '../../../src/store/store.js'
import { tracedFilter } from '../../../src/store/trace.js'
import type { Coverage } from '../index/log-index.js'
import { type EventRow, rowToCheckedEvent, rowToEvent, rowToLazyEvent } from '../schema/rows.js'
import { MAX_LIMIT_AT_ONCE, readPageAtOnce } from './page-at-once.js'
import { pushDownEvents } from './pushdown-event.js'
import { type BoundedListOptions, type LogState, readLogState, scanEvents } from './scan.js'
import { openView } from '../../../src/store-kit/planning/session.js'
import { createSlices, createTasks, type Indexed, timesIn, visitEach } from './session.js'

/** The filter of a list, and how its rows are read. */
export interface Listing {
  readonly indexed: Indexed
  readonly query: EventQuery
  readonly filter: IndexFilter | undefined
  /** True if the scans within the bounds visit matching events only. */
  readonly isBounded: boolean
  readonly toEvent: (row: EventRow) => AuditEvent
  /** The state of the log when the list begins. */
  readonly logState: LogState
  readonly options: BoundedListOptions
  /** When the index gives up, as `performance.now()` counts. @default never */
  readonly latest?: number | undefined
}

/**
 * Returns a page of matching events, as `list-planner.ts` plans it. A short page that no filter restricts is read at once,
 * and returned without a promise if no other connection holds the lock.
 */
export function listEvents(
  indexed: Indexed,
  query: EventQuery,
  options: BoundedListOptions,
): EventPage | Promise<EventPage> {
  const { tables } = indexed
  const direction = scanDirection(query.sorts)
  const { from, to } = timeBounds(query.where)
  const bounds = { from: Math.max(from, 0), to }
  const isWhole = isBounded(query.where)
  const planned = (): Promise<EventPage> => listPlanned(indexed, query, bounds, options)
  if (!direction || !isWhole || query.limit > MAX_LIMIT_AT_ONCE) return planned()
  const toEvent = options.lazy ? rowToLazyEvent : rowToEvent
  const asked = { query, direction, bounds, toEvent, trace: options.trace }
  const page = tables.connection.attempt(() => readPageAtOnce(tables, asked), options)
  if (page instanceof Promise) return page.then((read) => read ?? planned())
  return page ?? planned()
}

async function listPlanned(
  indexed: Indexed,
  query: EventQuery,
  bounds: TimeBounds,
  options: BoundedListOptions,
): Promise<EventPage> {
  const { connection } = indexed.tables
  // Events that become visible after this have later times.
  const logState = await connection.retry(() => readLogState(connection), options)
  const isWhole = isBounded(query.where)
  const direction = scanDirection(query.sorts)
  const ports = portsOf({
    indexed,
    query,
    filter: isWhole ? undefined : indexFilter(query.where),
    isBounded: isWhole && direction !== undefined,
    toEvent: options.lazy ? rowToLazyEvent : rowToCheckedEvent,
    logState,
    options,
  })
  const known = { from: bounds.from, to: Math.min(bounds.to, logState.end) }
  const collector = direction
    ? await listInTime(ports, direction, known)
    : await listSorted(ports, known)
  // No snapshot is too old: each slice of the work has a new one.
  return lazyPage(await collector!.page(), options.lazy === true)
}

/** How many rows a list checks before it uses the index, if values do not lead to its events. */
export const FIRST_PROBE_SIZE = 64

// A process indexes this number of events in some 100 ms, once. Half of the events that are usually unsealed.
const MAX_UNSEALED = 8192
const VALUE_PROBE_SIZE = 16

/** Values need no probe if few events are unsealed; else SQL compares them. */
export const probeSizes = (
  { appended, sealed }: Pick<LogState, 'appended' | 'sealed'>,
  firstProbe: number,
): ProbeSizes => ({
  any: firstProbe,
  forValues: appended - sealed <= MAX_UNSEALED ? 0 : VALUE_PROBE_SIZE,
})

const EVER = { from: 0, to: Number.MAX_SAFE_INTEGER }

/** The file, as the planners read it. */
export function portsOf(list: Listing): ListPorts {
  const { indexed, query, filter, isBounded, logState, options, toEvent } = list
  const { tables, index, firstProbe } = indexed
  const { trace } = options
  const inSlices = createSlices(indexed, options, list.latest)
  const compiled = isBounded ? () => true : compileStoredFilter(query.where)
  /** `undefined` for an event that was removed. An event that was open may be in either table. */
  const rowAt = (time: Microseconds): EventRow | undefined => {
    const row = (logState.hasOpen ? tables.live.at(time) : undefined) ?? tables.events.at(time)
    if (!row) index.checkMissing(time)
    return row
  }
  const eventAt = (time: Microseconds): AuditEvent | undefined => {
    const row = rowAt(time)
    return row && toEvent(row)
  }
  let coverage: Coverage | undefined
  let open: readonly Microseconds[] = []
  return {
    query,
    filter,
    hasIndex: true,
    matches: tracedFilter(trace, compiled),
    probe: probeSizes(logState, firstProbe),
    maxFetched: 0,
    enter(method, reason) {
      const step = trace?.enter(method)
      if (step) step.reason = reason
      return undefined
    },
    scan: (request) => scan(list, request),
    async coveredTo() {
      // Later calls follow a change of the index.
      const isFirst = coverage === undefined && !logState.hasOpen
      coverage = isFirst ? index.known(logState) : undefined
      if (coverage) return coverage.to
      await inSlices((isOver) => {
        coverage = index.refresh(isOver)
        if (coverage && logState.hasOpen) open = tables.live.timesBetween(EVER)
        return !coverage
      })
      return coverage!.to
    },
    openIndex(bounds) {
      const { segments, recent } = coverage!
      const tasks = createTasks(inSlices, (isOver) => {
        const now = index.refresh(isOver)
        // Too many late events may have come.
        return now && now.to >= bounds.to && index.has(segments)
      })
      const openParts = open.length > 0 ? [unindexedPart('open', open)] : []
      const parts = [...segments, ...recent, ...openParts].filter((part) => overlaps(part, bounds))
      const view = { parts, eventAt, timesOf: timesIn(tables) }
      return Promise.resolve(openView(view, { tasks, filter, trace }))
    },
    visitAt: (times, _, visit) =>
      visitEach(inSlices, times, (time) => {
        const row = rowAt(time)
        return row !== undefined && visit(toEvent(row), row.attributes.length)
      }),
  }
}

/** Reads the rows that SQL cannot rule out one by one. */
async function scan(
  { indexed: { tables }, query, filter, toEvent, logState, options }: Listing,
  { bounds, order, visit, probe }: Parameters<ListPorts['scan']>[0],
): Promise<TimeBounds | undefined> {
  if (isEmpty(bounds)) return bounds
  let pushdown: { readonly where: Sql | undefined } | undefined
  let isFull = false
  const full = (is: boolean): boolean => (isFull = is)
  const visitRow = (row: EventRow): ReturnType<Visit> =>
    thenDecided(visit(toEvent(row), row.attributes.length), full)
  const request = {
    bounds,
    direction: order ?? 'desc',
    where() {
      pushdown ??= { where: filter && pushDownEvents(query.where) }
      return pushdown.where
    },
    wanted: filter ? undefined : query.limit + 1,
    logState,
    probe,
  }
  const rest = await scanEvents(tables, request, visitRow, options)
  return isFull ? undefined : rest
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

import type { AuditEvent } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import { pageCollector } from '../../../src/store-kit/collect.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import { unindexedPart } from '../../../src/store-kit/index/unindexed-part.js'
import { lazyPage } from '../../../src/store-kit/lazy-page.js'
import {
  BATCH_EVENTS,
  listInTime,
  type ListPorts,
  type Visit,
} from '../../../src/store-kit/planning/list-planner.js'
import { listSorted } from '../../../src/store-kit/planning/list-sorted.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import type { EventPage } from '../../../src/store/store.js'
import { tracedFilter } from '../../../src/store/trace.js'
import type { TextRow } from '../connection/client.js'
import type { Coverage } from '../index/server-index.js'
import { openSession } from '../index/session.js'
import type { Opened, Snapshot } from '../log/snapshot.js'
import { readOpen } from '../schema/live-rows.js'
import { checkRows, rowToCheckedEvent, rowToLazyEvent } from '../schema/rows.js'
import { type ListPlan, probeSizes } from './list-plan.js'
import { type Indexed, rowsOfFound, timeOf, timesOfIds } from './list-query.js'
import { scanInOrder, sweepRows } from './list-scan.js'
import { type ListTrace, listTrace } from './list-trace.js'
import { inParts } from './near-bounds.js'
import type { Run } from './ranges.js'
import { numbered } from './sql.js'

/** One list query in one snapshot. */
export interface ListQuery {
  readonly indexed: Indexed
  readonly snapshot: Snapshot
  readonly plan: ListPlan
  /** The rows of the statements that were sent with the BEGIN of the snapshot. */
  readonly opened: Opened
  readonly run: Run
  readonly steps: ListTrace
}

/**
 * Returns a page of matching events, as `list-planner.ts` plans it; `undefined` if the index has dropped segments that the
 * snapshot needs, so that it takes a newer one.
 */
export async function listEvents(
  snapshot: Snapshot,
  indexed: Indexed,
  plan: ListPlan,
  opened: Opened = {},
): Promise<EventPage | undefined> {
  const { query, lazy = false, trace, bounds, direction } = plan
  if (isEmpty(bounds)) return pageCollector(query).page()
  const run: Run = (query) => {
    snapshot.checkTime()
    return snapshot.ask(numbered(query), ...query.params)
  }
  const steps = listTrace(run, indexed.names.events, trace)
  const ports = portsOf({ indexed, snapshot, plan, opened, run, steps })
  const collector = direction
    ? await listInTime(ports, direction, bounds)
    : await listSorted(ports, bounds)
  await steps.end()
  return collector && lazyPage(await collector.page(), lazy)
}

/** Each search takes a statement. */
const FIRST_PARTS = { forLookups: 32, forSearches: 8 }

// Up to this number, fetching events by time is faster than a scan.
const MAX_FETCHED = 20_000

/** The snapshot, as the planners read it. */
export function portsOf(list: ListQuery): ListPorts {
  const { indexed, snapshot, plan, opened, run, steps } = list
  const { query, near, filter, where, trace } = plan
  const { index, names } = indexed
  const visitor = createVisitor(list)
  let coverage: Coverage | undefined
  const isOpenAt = new Set(snapshot.open.map(({ time }) => time))
  return {
    query,
    filter: index && filter,
    hasIndex: index !== undefined,
    matches: tracedFilter(trace, compileStoredFilter(query.where)),
    probe: probeSizes(indexed.firstProbe),
    firstParts: FIRST_PARTS,
    maxFetched: MAX_FETCHED,
    enter: (method, reason) => steps.enter(method, reason),
    async scan({ bounds, order, visit, probe }) {
      const filtered = { where, indexed }
      if (order) {
        const ready = opened[probe ? 'probe' : 'scan']
        return scanInOrder({
          ...filtered,
          run,
          order,
          parts: inParts(bounds, near, order),
          least: query.limit + 1,
          probe,
          ready: bounds === plan.bounds ? ready : undefined,
          onRead: (count) => steps.add(count),
          visit: (rows, range) => visitor.visit(rows, range, order, visit),
        })
      }
      for await (const rows of sweepRows(run, filtered, bounds))
        await visitor.visit(rows, undefined, 'asc', visit)
      await visitor.visit([], bounds, 'asc', visit)
      return bounds
    },
    async coveredTo() {
      const found = await index!.refresh(snapshot, opened['index'])
      if (found === 'outdated') return undefined
      coverage = found
      return found.to
    },
    async openIndex(bounds) {
      const open = visitor.openTimes(bounds)
      const recent = open.length > 0 ? [unindexedPart('open', open)] : []
      const session = openSession({
        names,
        snapshot,
        coverage: { ...coverage!, recent: [...coverage!.recent, ...recent] },
        bounds,
        filter,
        timesOf: await timesOfIds(run, names, filter),
        onDamaged: (damaged) => index!.setAside(damaged),
        onRead(parts, pieces) {
          if (!trace?.current) return
          trace.current.parts_read += parts
          trace.current.reads += pieces
        },
      })
      if (trace?.current) trace.current.parts += session.parts.length
      return session
    },
    async visitAt(times, order, visit) {
      for (let from = 0; from < times.length; from += BATCH_EVENTS) {
        const some = times.slice(from, from + BATCH_EVENTS)
        const stored = some.filter((time) => !isOpenAt.has(time))
        const found = { coverage: coverage!, where, times: stored }
        // Open events are visited without an index, too.
        const rows = stored.length === 0 ? [] : await rowsOfFound(run, indexed, found)
        const open = new Set(some.length > stored.length ? some : [])
        if (await visitor.visit(rows, open, order, visit)) return true
      }
      return false
    },
  }
}

/** An event that a list visits. */
interface Item {
  readonly time: Microseconds
  readonly size: number
  readonly event: () => AuditEvent
}

interface Visitor {
  /** The times of the open live events within the bounds, ascending. */
  openTimes(bounds: TimeBounds): Microseconds[]
  /**
   * Visits the rows and the open live events of these bounds or times, in order; an event is in one of the two tables.
   * Leaves out damaged rows. The event loop turns in between. True once the visitor needs no more.
   */
  visit(
    rows: readonly TextRow[],
    open: TimeBounds | ReadonlySet<Microseconds> | undefined,
    order: Order,
    visit: Visit,
  ): Promise<boolean>
}

function createVisitor({ indexed, snapshot, plan }: ListQuery): Visitor {
  const check = checkRows(indexed.damages)
  const toEvent = plan.lazy ? rowToLazyEvent : rowToCheckedEvent

  const openItems = async (isWanted: (time: Microseconds) => boolean): Promise<Item[]> => {
    const rows = snapshot.open.filter(({ time }) => isWanted(time))
    const events = await readOpen(snapshot.ask, indexed.names, rows)
    return rows.map(({ time }, i) => ({ time, size: 0, event: () => events[i]! }))
  }

  return {
    openTimes: ({ from, to }) =>
      snapshot.open.map(({ time }) => time).filter((time) => time >= from && time <= to),
    async visit(rows, open, order, visit) {
      const sign = order === 'asc' ? 1 : -1
      const items: Item[] = check(rows).map((row) => ({
        time: timeOf(row),
        size: row[6]!.length,
        event: () => toEvent(row),
      }))
      const isOpen = (time: Microseconds): boolean =>
        open !== undefined &&
        ('from' in open ? time >= open.from && time <= open.to : open.has(time))
      const all = items.concat(await openItems(isOpen)).toSorted((a, b) => (a.time - b.time) * sign)
      const slices = createTimeSlices()
      for (const { event, size } of all) {
        const decision = visit(event(), size)
        if (typeof decision === 'boolean' ? decision : await slices.finish(decision)) return true
        if (!slices.isOver()) continue
        await slices.next()
        snapshot.checkTime()
      }
      return false
    },
  }
}

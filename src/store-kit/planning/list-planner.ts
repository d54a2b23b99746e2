import type { AuditEvent } from '../../event/event.js'
import type { Microseconds } from '../../event/timestamp.js'
import type { EventQuery } from '../../filter/ast.js'
import { beyond, isEmpty, splitAt, type TimeBounds } from '../../filter/bounds.js'
import { type Decide, type Decision, thenDecided } from '../../filter/steps.js'
import type { QueryMethod } from '../../store/trace.js'
import { type EventCollector, pageCollector } from '../collect.js'
import type { Work } from '../index/work.js'
import { candidatesInTime, type IndexView } from '../index/index-list.js'
import { type IndexFilter, leadsByValues } from '../index/index-filter.js'
import type { Order } from '../index/part.js'
import { createProbe, type Probe, type ProbeSizes } from '../index/probe.js'
import {
  type FirstParts,
  INDEX_CHANGED,
  type IndexSession,
  READ_LIMIT_EXCEEDED,
  timesInOrder,
} from './session.js'

/*
 * Lists of every store with a segment index are planned here. A list by time is answered in these steps:
 *
 * 1. If the index cannot test the filter, all events within the bounds are scanned in order, until the page is full.
 * 2. Otherwise the first events of the order are probed: checked one by one, as most pages are found among them. The
 *    probe grows while at least one of eight events matches (`probe.ts`). If values lead to the events, as those of `eq`
 *    and `in` do, it is shorter, or there is none, as the index finds these by a few reads.
 * 3. The index finds the events after the probe, up to the time up to which it covers all events. Later events, and those
 *    that are left once the query has read too much of the index, are scanned.
 *
 * The steps depend on the filter and the log, not on what was asked before. A store whose tasks can read events visits each
 * event when the index reaches it; another reads them in batches. `list-sorted.ts` has the lists in other orders.
 */

/** Receives an event with the size of its attributes, in characters of JSON. Returns true once no more is needed. */
export type Visit = (event: AuditEvent, size: number) => Decision

export interface ScanRequest {
  readonly bounds: TimeBounds
  /** `undefined` for any order. */
  readonly order: Order | undefined
  readonly visit: Visit
  /** Ends the scan early. The scan reports the events that it has passed. */
  readonly probe?: Probe | undefined
}

/** A query, and the means by which a store answers it. */
export interface ListPorts {
  readonly query: EventQuery
  /** The part of the filter that the index can answer; `undefined` if none, or if the index must not be used. */
  readonly filter: IndexFilter | undefined
  /** False if the index must not be used. */
  readonly hasIndex: boolean
  /** Tests what a scan visits. */
  readonly matches: Decide<AuditEvent>
  readonly probe: ProbeSizes
  /** Only for sessions without a view. */
  readonly firstParts?: FirstParts | undefined
  /**
   * If the index does not have the order of the list, but finds at most this number of events, these are read. With more, a
   * scan is faster.
   */
  readonly maxFetched: number
  /** The query goes on by this method. */
  enter(method: QueryMethod, reason?: string): Promise<void> | undefined
  /**
   * Visits the events within the bounds, open ones included, that SQL cannot rule out. Returns the bounds that are left;
   * `undefined` once the visitor needs no more.
   */
  scan(request: ScanRequest): Promise<TimeBounds | undefined>
  /**
   * Brings the index up to date. Returns the time up to which it covers all events; `undefined` if the snapshot is too old for
   * the index.
   */
  coveredTo(): Promise<Microseconds | undefined>
  /** Opens the index within bounds that it covers; its parts include open events. */
  openIndex(bounds: TimeBounds): Promise<IndexSession>
  /** Visits the events at these times, in order; a time without an event is skipped. True if the visitor needs no more. */
  visitAt(times: readonly Microseconds[], order: Order, visit: Visit): Promise<boolean>
}

/** The reasons for a scan that a trace names. */
export const SCANNED = {
  noFilter: 'the index cannot answer the filter',
  noOrder: 'the index has no such order',
  uncovered: 'too many events are not indexed yet',
  tooMuch: 'the query would read too much of the index',
} as const

/** The probe of a list by time that uses the index. */
export const probeOf = (filter: IndexFilter, { any, forValues }: ProbeSizes): Probe =>
  leadsByValues(filter) ? createProbe(Math.min(any, forValues), false) : createProbe(any)

/** Adds the events that match to the page, and reports them to the probe. */
export const collecting =
  ({ matches }: Pick<ListPorts, 'matches'>, { add }: EventCollector, probe?: Probe): Visit =>
  (event, size) =>
    thenDecided(matches(event), (isMatch) => {
      if (isMatch) probe?.matched()
      else probe?.missed(size)
      return isMatch && add(event)
    })

/** A list by time, after its probe. */
interface ListRest {
  readonly ports: ListPorts
  readonly order: Order
  readonly visit: Visit
  /** The reason for the use of the index. */
  readonly reason: string | undefined
  /** The bounds of the events that have not been visited. */
  bounds: TimeBounds
}

/** Lists in the order of `created_at`. `undefined` if the snapshot is too old for the index. */
export async function listInTime(
  ports: ListPorts,
  order: Order,
  bounds: TimeBounds,
): Promise<EventCollector | undefined> {
  const { query, filter } = ports
  const collector = pageCollector(query)
  const visit = collecting(ports, collector)
  if (!filter) {
    await ports.enter('scan', query.where && SCANNED.noFilter)
    await ports.scan({ bounds, order, visit })
    return collector
  }
  const probe = probeOf(filter, ports.probe)
  let rest: TimeBounds | undefined = bounds
  let reason: string | undefined
  if (probe.left() > 0) {
    await ports.enter('probe')
    rest = await ports.scan({ bounds, order, visit: collecting(ports, collector, probe), probe })
    const { seen, matches } = probe.counts()
    reason = `${matches} of the ${seen} ${order === 'asc' ? 'oldest' : 'newest'} events match`
  }
  if (!rest || isEmpty(rest)) return collector
  const list: ListRest = { ports, order, visit, reason, bounds: rest }
  return (await untilUnchanged(() => listRest(list))) ? collector : undefined
}

/** Does the work again for as long as the index changes meanwhile. */
export async function untilUnchanged<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (error !== INDEX_CHANGED) throw error
    }
}

/** Lists the events that are left. False if the snapshot is too old for the index. */
async function listRest(list: ListRest): Promise<boolean> {
  await list.ports.enter('index', list.reason)
  const to = await list.ports.coveredTo()
  if (to !== undefined) await listUpTo(list, to)
  return to !== undefined
}

/** Lists the events that are left: by the index up to the time, which it covers, else by a scan. */
async function listUpTo(list: ListRest, to: Microseconds): Promise<void> {
  const { order } = list
  const { covered, rest: others } = splitAt(list.bounds, to)
  const ask = (): Promise<boolean> => listByIndex(list, covered)
  const scan = (): Promise<boolean> => scanRest(list, others, SCANNED.uncovered)
  for (const next of order === 'asc' ? [ask, scan] : [scan, ask]) if (await next()) return
}

/** Returns true if the page is full, or if nothing is left. */
async function scanRest(list: ListRest, bounds: TimeBounds, reason: string): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const { ports, order, visit } = list
  await ports.enter('scan', reason)
  const left = await ports.scan({ bounds, order, visit })
  list.bounds = beyond(list.bounds, order === 'asc' ? bounds.to : bounds.from, order)
  return !left || isEmpty(list.bounds)
}

// Factor by which batches grow while too few of the candidates match.
const GROWTH = 4

/** Maximum number of events that are read together. */
export const BATCH_EVENTS = 1000

/** The sizes of batches of candidates: few more than a page at first. */
export function createBatchSizes({ limit }: EventQuery): { size: () => number; grow: () => void } {
  let size = limit + 1
  return {
    size: () => size,
    grow: () => void (size = Math.min(size * GROWTH, Math.max(size, BATCH_EVENTS))),
  }
}

/** Returns true if the page is full, or if nothing is left. */
async function listByIndex(list: ListRest, bounds: TimeBounds): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const { ports, order, visit, reason } = list
  const { query, filter, firstParts } = ports
  await ports.enter('index', reason)
  const session = await ports.openIndex(bounds)
  const { view, tasks } = session
  if (view) return tasks.one(() => walkInTime(list, view))
  const batches = createBatchSizes(query)
  const request = { filter, order, bounds, firstParts, max: batches.size }
  try {
    for await (const times of timesInOrder(session, request)) {
      if (await ports.visitAt(times, order, visit)) return true
      // Only now, as the list may start again with the rest.
      list.bounds = beyond(list.bounds, times.at(-1)!, order)
      batches.grow()
    }
  } catch (error) {
    if (error !== READ_LIMIT_EXCEEDED) throw error
    return scanRest(list, list.bounds, SCANNED.tooMuch)
  }
  return false
}

/** Visits the events that the index finds, each when the walk reaches it. Starts with the bounds that are left. */
function* walkInTime(list: ListRest, view: IndexView): Work<boolean> {
  const { ports, order, visit } = list
  let reached: Microseconds
  const eventAt = (time: Microseconds): AuditEvent | undefined => view.eventAt((reached = time))
  for (const event of candidatesInTime({ ...view, eventAt }, ports.filter, order, list.bounds)) {
    if (event) {
      const decision = visit(event, 0)
      if (typeof decision === 'boolean' ? decision : yield* decision) return true
      // Only now, as the walk may start again with the rest.
      list.bounds = beyond(list.bounds, reached!, order)
    }
    yield
  }
  return false
}

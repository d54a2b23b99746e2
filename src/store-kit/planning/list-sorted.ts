import type { AuditEvent } from '../../event/event.js'
import { type Microseconds, parseTimestamp } from '../../event/timestamp.js'
import { isEmpty, splitAt, type TimeBounds } from '../../filter/bounds.js'
import { type Decision, thenDecided } from '../../filter/steps.js'
import { type EventCollector, pageCollector } from '../collect.js'
import { requiresAttribute } from '../index/index-filter.js'
import {
  type Candidates,
  type IndexView,
  isIndexedOrder,
  shouldFollowOrder,
  takeSorted,
  takeSortedOf,
} from '../index/index-list.js'
import { inSortOrder } from '../index/sort-order.js'
import { type PartPostings, timesOfSets } from '../index/time-order.js'
import { WAIT, type Work } from '../index/work.js'
import {
  collecting,
  createBatchSizes,
  type ListPorts,
  SCANNED,
  untilUnchanged,
} from './list-planner.js'
import { type IndexSession, READ_LIMIT_EXCEEDED, type Tasks } from './session.js'

/**
 * Lists in an order by attributes. If the index has the order, or finds the few events that match, it leads to those that
 * it covers, and the others are scanned. Otherwise all events are scanned. `undefined` if the snapshot is too old for the index.
 */
export async function listSorted(
  ports: ListPorts,
  bounds: TimeBounds,
): Promise<EventCollector | undefined> {
  const { query, filter, hasIndex, maxFetched } = ports
  const isFetched = filter !== undefined && maxFetched > 0
  if (!hasIndex || (!isFetched && !isIndexedOrder(query.sorts)))
    return sweep(ports, pageCollector(query), bounds, SCANNED.noOrder)
  await ports.enter('sort')
  return untilUnchanged(async () => {
    const to = await ports.coveredTo()
    if (to === undefined) return undefined
    const { covered, rest } = splitAt(bounds, to)
    const collector = isEmpty(covered) ? pageCollector(query) : await collectCovered(ports, covered)
    if (!collector) return sweep(ports, pageCollector(query), bounds, SCANNED.tooMuch)
    return isEmpty(rest) ? collector : sweep(ports, collector, rest, SCANNED.uncovered)
  })
}

async function sweep(
  ports: ListPorts,
  collector: EventCollector,
  bounds: TimeBounds,
  reason: string,
): Promise<EventCollector> {
  await ports.enter('scan', reason)
  await ports.scan({ bounds, order: undefined, visit: collecting(ports, collector) })
  return collector
}

/** `undefined` if a scan of all events would take less. */
async function collectCovered(
  ports: ListPorts,
  bounds: TimeBounds,
): Promise<EventCollector | undefined> {
  try {
    const session = await ports.openIndex(bounds)
    if (session.view) return await collectAlong(ports, session.tasks, session.view, bounds)
    const sets = await session.find(session.parts)
    session.release()
    const candidates: Candidates = {
      sets,
      count: sets.reduce((sum, { postings }) => sum + postings.size, 0),
      searched: session.parts.reduce((sum, { size }) => sum + size, 0),
    }
    return isIndexedOrder(ports.query.sorts)
      ? await collectFirst(ports, session, candidates, bounds)
      : await collectFetched(ports, session, candidates, bounds)
  } catch (error) {
    if (error !== READ_LIMIT_EXCEEDED) throw error
    return undefined
  }
}

async function collectFetched(
  ports: ListPorts,
  session: IndexSession,
  { sets, count }: Candidates,
  bounds: TimeBounds,
): Promise<EventCollector | undefined> {
  if (count > ports.maxFetched) return undefined
  const collector = pageCollector(ports.query)
  const times = await session.timesOf(sets, 'asc', bounds, Infinity)
  await ports.visitAt(times, 'asc', collecting(ports, collector))
  return collector
}

/** Walks along the order, and reads each event when the walk reaches it. */
async function collectAlong(
  { query, filter, matches }: ListPorts,
  tasks: Tasks,
  view: IndexView,
  bounds: TimeBounds,
): Promise<EventCollector> {
  let collector = pageCollector(query)
  await tasks.one(() => {
    collector = pageCollector(query)
    const add = (event: AuditEvent): Decision => collector.add(event)
    return takeSorted(view, { filter, query, bounds, matches, add })
  })
  return collector
}

/** Repeats the walk along the order, each time with the events that it lacked. */
async function collectFirst(
  ports: ListPorts,
  { tasks }: IndexSession,
  candidates: Candidates,
  bounds: TimeBounds,
): Promise<EventCollector> {
  const { query, filter, matches } = ports
  let collector = pageCollector(query)
  await tasks.all(candidates.sets.map((set) => () => walkStart(ports, candidates, set, bounds)))
  /** `undefined` for an event that does not match or does not exist. */
  const known = new Map<Microseconds, AuditEvent | undefined>()
  let wanted = new Set<Microseconds>()
  const knownAt = (time: Microseconds): AuditEvent | undefined => {
    if (!known.has(time)) wanted.add(time)
    return known.get(time)
  }
  for (const batches = createBatchSizes(query); ; batches.grow()) {
    await tasks.one(() => {
      collector = pageCollector(query)
      wanted = new Set()
      const { add } = collector
      const walk = takeSortedOf({ eventAt: knownAt }, candidates, {
        filter,
        query,
        bounds,
        matches: () => true,
        add,
      })
      return stepsUntil(walk, () => wanted.size >= batches.size())
    })
    if (wanted.size === 0) return collector
    for (const time of wanted) known.set(time, undefined)
    await ports.visitAt([...wanted], 'asc', (event) =>
      thenDecided(matches(event), (isMatch) => {
        if (isMatch) known.set(parseTimestamp(event.created_at)!, event)
        return false
      }),
    )
  }
}

/** Does the work until `isOver`. */
function* stepsUntil(work: Work<void>, isOver: () => boolean): Work<void> {
  for (let next = work.next(); !next.done && !isOver(); next = work.next()) yield next.value
}

/** Walks the beginning of a part, so that what the walk reads of all parts can be read together. */
function* walkStart(
  { query: { sorts, limit }, filter }: ListPorts,
  candidates: Candidates,
  set: PartPostings,
  bounds: TimeBounds,
): Work<void> {
  let found = 0
  const isFull = (): boolean => found > limit
  const requires = (name: string): boolean => requiresAttribute(filter, name)
  const walk = shouldFollowOrder(candidates, limit)
    ? inSortOrder([set], sorts, { bounds, isFull, requires })
    : timesOfSets([set], 'asc', bounds)
  for (const one of walk) {
    if (one !== undefined && one !== WAIT) found += 1
    yield one === WAIT ? WAIT : undefined
  }
}

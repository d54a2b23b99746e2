import type { AuditEvent } from '../../../src/event/event.js'
import { isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../../src/store-kit/collect.js'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import { requiresAttribute } from '../../../src/store-kit/index/index-filter.js'
import {
  type Candidates,
  shouldFollowOrder,
  isIndexedOrder,
  takeSortedOf,
} from '../../../src/store-kit/index/index-list.js'
import { inSortOrder } from '../../../src/store-kit/index/sort-order.js'
import { type PartPostings, timesOfSets } from '../../../src/store-kit/index/time-order.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import {
  type ListQuery,
  coverageIn,
  BATCH_ROWS,
  rowsOfFound,
  openIndexSession,
  timeOf,
} from './list-query.js'
import type { Coverage } from '../index/server-index.js'
import { READ_LIMIT_EXCEEDED } from '../index/chunk-loader.js'
import type { IndexSession } from '../index/session.js'
import { sweepRows } from './list-scan.js'

/** Collects the first events in an order by attributes: from the index, and from a scan of the rest. */
export async function collectSorted(list: ListQuery, bounds: TimeBounds): Promise<EventCollector> {
  const { indexed, query, filter, steps } = list
  const { index } = indexed
  // For an order that the index does not have, it may still find the few events that match.
  if (!index || (!filter && !isIndexedOrder(query.sorts)))
    return sweep(list, pageCollector(query), bounds, 'the index has no such order')
  await steps.enter('sort')
  const coverage = await coverageIn(list, index)
  const { covered: known, rest: others } = splitAt(bounds, coverage.to)
  const collector = isEmpty(known)
    ? pageCollector(query)
    : await collectKnown(list, coverage, known)
  if (!collector) {
    const reason = 'the query would read too much of the index'
    return sweep(list, pageCollector(query), bounds, reason)
  }
  if (isEmpty(others)) return collector
  return sweep(list, collector, others, 'too many events are not indexed yet')
}

async function sweep(
  list: ListQuery,
  collector: EventCollector,
  bounds: TimeBounds,
  reason: string,
): Promise<EventCollector> {
  await list.steps.enter('scan', reason)
  for await (const rows of sweepRows(list, bounds))
    await list.takeMatching(list.check(rows), list.toEvent, collector.add)
  return collector
}

/** `undefined` if a scan of all events would take less. */
async function collectKnown(
  list: ListQuery,
  coverage: Coverage,
  bounds: TimeBounds,
): Promise<EventCollector | undefined> {
  try {
    const session = await openIndexSession(list, coverage, bounds)
    const sets = await session.find(session.parts)
    session.release()
    const candidates: Candidates = {
      sets,
      count: sets.reduce((sum, { postings }) => sum + postings.size, 0),
      searched: session.parts.reduce((sum, { size }) => sum + size, 0),
    }
    return isIndexedOrder(list.query.sorts)
      ? await collectFirst(list, session, candidates, bounds)
      : await collectFetched(list, session, candidates, bounds)
  } catch (error) {
    if (error !== READ_LIMIT_EXCEEDED) throw error
    return undefined
  }
}

// Up to this number, fetching events by time is faster than a scan.
const MAX_FETCHED = 20_000

async function collectFetched(
  list: ListQuery,
  session: IndexSession,
  { sets, count }: Candidates,
  bounds: TimeBounds,
): Promise<EventCollector | undefined> {
  if (count > MAX_FETCHED) return undefined
  const collector = pageCollector(list.query)
  const times = await session.timesOf(sets, 'asc', bounds, Infinity)
  const rows = list.check(await rowsOfFound(list, session.coverage, times))
  await list.takeMatching(rows, list.toEvent, collector.add)
  return collector
}

// Factor by which batches grow while too few of the candidates match.
const GROWTH = 4

/** Does the work until `isOver`. */
function* stepsUntil(work: Work<void>, isOver: () => boolean): Work<void> {
  for (let next = work.next(); !next.done && !isOver(); next = work.next()) yield
}

/** Repeats the walk along the order, each time with the events that were missing before. */
async function collectFirst(
  list: ListQuery,
  session: IndexSession,
  candidates: Candidates,
  bounds: TimeBounds,
): Promise<EventCollector> {
  const { query, filter } = list
  await warmUp(list, session, candidates, bounds)
  /** `undefined` for an event that does not match or does not exist. */
  const known = new Map<Microseconds, AuditEvent | undefined>()
  let wanted = new Set<Microseconds>()

  const eventAt = (time: Microseconds): AuditEvent | undefined => {
    if (!known.has(time)) wanted.add(time)
    return known.get(time)
  }
  const walk = (collector: EventCollector): Work<void> => {
    wanted = new Set()
    return takeSortedOf({ eventAt }, candidates, {
      filter,
      query,
      bounds,
      matches: () => true,
      add: collector.add,
    })
  }

  for (let most = query.limit + 1; ; most = Math.min(most * GROWTH, Math.max(most, BATCH_ROWS))) {
    let collector = pageCollector(query)
    await session.tasks.one(() => {
      collector = pageCollector(query)
      return stepsUntil(walk(collector), () => wanted.size >= most)
    })
    if (wanted.size === 0) return collector
    for (const time of wanted) known.set(time, undefined)
    const rows = list.check(await rowsOfFound(list, session.coverage, [...wanted]))
    await list.takeMatching(rows, list.toEvent, (event, row) => void known.set(timeOf(row), event))
  }
}

/** Walks the beginning of each part, so that the chunks of all parts are read together. */
async function warmUp(
  { query: { sorts, limit }, filter }: ListQuery,
  { tasks }: IndexSession,
  candidates: Candidates,
  bounds: TimeBounds,
): Promise<void> {
  const isAlong = shouldFollowOrder(candidates, limit)
  const requires = (name: string): boolean => requiresAttribute(filter, name)
  const walk = (set: PartPostings): Work<void> => {
    let found = 0
    const onFound = (): void => void (found += 1)
    const isFull = (): boolean => found > limit
    return isAlong
      ? countFound(inSortOrder([set], sorts, { bounds, isFull, requires }), onFound)
      : countFound(timesOfSets([set], 'asc', bounds), onFound)
  }
  await tasks.all(candidates.sets.map((set) => () => walk(set)))
}

function* countFound(steps: Iterable<unknown>, onFound: () => void): Work<void> {
  for (const one of steps) {
    if (one !== undefined) onFound()
    yield
  }
}

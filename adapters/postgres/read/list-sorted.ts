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
import { type Answer, coverageIn, FETCHED, rowsAt, sessionOf, timeOf } from './answer.js'
import type { Coverage, LogIndex } from '../index/log-index.js'
import { TOO_MUCH } from '../index/chunk-loader.js'
import type { IndexSession } from '../index/session.js'
import { sweepRows } from './list-scan.js'

type Matches = (event: AuditEvent) => boolean

/** Collects what comes first in the order of attributes: by the index, and all of what it does not know. */
export async function collectSorted(
  answer: Answer,
  bounds: TimeBounds,
  matches: Matches,
): Promise<EventCollector> {
  const { indexed, query, filter, told } = answer
  const { index } = indexed
  // Of an order that the index does not have it can still tell which few there are.
  if (!index || (!filter && !isIndexedOrder(query.sorts)))
    return sweep(answer, pageCollector(query), bounds, matches, 'the index has no such order')
  await told.enter('sort')
  const coverage = await coverageIn(answer, index)
  const { covered: known, rest: others } = splitAt(bounds, coverage.to)
  const collector = isEmpty(known)
    ? pageCollector(query)
    : await collectKnown(answer, index, coverage, known, matches)
  if (!collector) {
    const reason = 'too much of the index would be read'
    return sweep(answer, pageCollector(query), bounds, matches, reason)
  }
  if (isEmpty(others)) return collector
  return sweep(answer, collector, others, matches, 'too many events are in no index yet')
}

async function sweep(
  answer: Answer,
  collector: EventCollector,
  bounds: TimeBounds,
  matches: Matches,
  reason: string,
): Promise<EventCollector> {
  await answer.told.enter('scan', reason)
  for await (const rows of sweepRows(answer, bounds))
    for (const row of rows) {
      const event = answer.toEvent(row)
      if (matches(event)) collector.add(event)
    }
  return collector
}

/** `undefined` where that would take more than a look at all events. */
async function collectKnown(
  answer: Answer,
  index: LogIndex,
  coverage: Coverage,
  bounds: TimeBounds,
  matches: Matches,
): Promise<EventCollector | undefined> {
  try {
    const session = await sessionOf(answer, index, coverage, bounds)
    const sets = await session.find(session.parts)
    session.release()
    const candidates: Candidates = {
      sets,
      count: sets.reduce((sum, { postings }) => sum + postings.size, 0),
      of: session.parts.reduce((sum, { size }) => sum + size, 0),
    }
    return isIndexedOrder(answer.query.sorts)
      ? await collectFirst(answer, session, candidates, bounds, matches)
      : await collectFew(answer, session, candidates, bounds, matches)
  } catch (error) {
    if (error !== TOO_MUCH) throw error
    return undefined
  }
}

// So many are fetched one by one faster than all events are gone through.
const FEW = 20_000

async function collectFew(
  answer: Answer,
  session: IndexSession,
  { sets, count }: Candidates,
  bounds: TimeBounds,
  matches: Matches,
): Promise<EventCollector | undefined> {
  if (count > FEW) return undefined
  const collector = pageCollector(answer.query)
  const times = await session.timesOf(sets, 'asc', bounds, Infinity)
  for (const row of await rowsAt(answer, times)) {
    const event = answer.toEvent(row)
    if (matches(event)) collector.add(event)
  }
  return collector
}

// Of what the order leads to ever more is fetched where not enough of it matches.
const GROWTH = 4

/** Goes along the order again and again, each time with the events that were missing the last time. */
async function collectFirst(
  answer: Answer,
  session: IndexSession,
  candidates: Candidates,
  bounds: TimeBounds,
  matches: Matches,
): Promise<EventCollector> {
  const { query, filter } = answer
  await warmUp(answer, session, candidates, bounds)
  /** `undefined` for what does not match, or is not there. */
  const known = new Map<Microseconds, AuditEvent | undefined>()
  let wanted = new Set<Microseconds>()

  function* go(most: number): Work<EventCollector> {
    wanted = new Set()
    const collector = pageCollector(query)
    const take = (event: AuditEvent): boolean => {
      collector.add(event)
      return true
    }
    const eventAt = (time: Microseconds): AuditEvent | undefined => {
      if (!known.has(time)) wanted.add(time)
      return known.get(time)
    }
    const steps = takeSortedOf({ eventAt }, candidates, filter, query, bounds, take)
    for (let next = steps.next(); !next.done && wanted.size < most; next = steps.next()) yield
    return collector
  }

  for (let most = query.limit + 1; ; most = Math.min(most * GROWTH, Math.max(most, FETCHED))) {
    const collector = await session.tasks.one(() => go(most))
    if (wanted.size === 0) return collector
    for (const time of wanted) known.set(time, undefined)
    for (const row of await rowsAt(answer, [...wanted])) {
      const event = answer.toEvent(row)
      if (matches(event)) known.set(timeOf(row), event)
    }
  }
}

/** Has each part lead to what comes first in it, so that all of them are read at once. */
async function warmUp(
  { query: { sorts, limit }, filter }: Answer,
  { tasks }: IndexSession,
  candidates: Candidates,
  bounds: TimeBounds,
): Promise<void> {
  const isAlong = shouldFollowOrder(candidates, limit)
  function* go(set: PartPostings): Work<void> {
    let steps = 0
    const isFull = (): boolean => steps > limit
    const requires = (name: string): boolean => requiresAttribute(filter, name)
    const met = isAlong
      ? inSortOrder([set], sorts, { bounds, isFull, requires })
      : timesOfSets([set], 'asc', bounds)
    for (const one of met) {
      if (one !== undefined) steps += 1
      yield
    }
  }
  await tasks.all(candidates.sets.map((set) => () => go(set)))
}

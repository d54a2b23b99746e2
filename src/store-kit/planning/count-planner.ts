import { parseTimestamp, type Microseconds } from '../../event/timestamp.js'
import type { TimeBounds } from '../../filter/bounds.js'
import type { Grouping } from '../../filter/ast.js'
import { thenDecided } from '../../filter/steps.js'
import { createTimeSlices } from '../../filter/time-slices.js'
import type { CountsQuery, EventCounts } from '../../store/counts.js'
import type { Span } from '../counting/count-plan.js'
import { roundsWithin, wholeCells } from '../counting/covered-cells.js'
import { groupFields } from '../counting/group-fields.js'
import { filterParts } from '../counting/own-conditions.js'
import { type Slice, sliceAt } from '../counting/slices.js'
import { createTally, type Tally } from '../counting/tally.js'
import { addIndexed, halfwayTo, withoutValues } from '../index/counted-figures.js'
import { indexFilter, leadsByValues } from '../index/index-filter.js'
import type { PartPostings } from '../index/time-order.js'
import { countByIndex, type IndexedFigures, type SealedIndex } from './count-by-index.js'
import type { ListPorts } from './list-planner.js'
import { INDEX_CHANGED, READ_LIMIT_EXCEEDED } from './session.js'

/*
 * Counts of every store with a segment index are planned here. A count takes the first of these steps that it can:
 *
 * 1. If values lead to the events, as those of `eq` do, and the events are few, they are read.
 * 2. The segments of the index count their events by the values that they list, without reading an event, if the index
 *    has exactly the events that match. The events that no segment covers are read.
 * 3. If the index finds few events for another filter, these are read.
 * 4. All events are read, slice by slice, each round of slices a further sample, until the time is over.
 *
 * Steps 1 to 3 may each take half of the time that is left. Facets that the index cannot count, and the attributes, are
 * counted after the total, in the time that is left, by step 3 or 4. A count without time takes step 4 alone.
 */

/** The parts of a count that a store provides. */
export interface CountPorts {
  /** Finds the events that may match. Throws `READ_LIMIT_EXCEEDED` after `latest`, as `performance.now()` counts. */
  find(where: Grouping | undefined, latest: number): Promise<EventFinder>
  /** Opens the segments. `undefined` if they have few of the events within the bounds, or cannot be used. */
  openSealed(bounds: TimeBounds, latest: number): Promise<SealedIndex | undefined>
  /**
   * Adds the events within the slices that pass the shared filter, open ones included, and marks the slices as seen, until
   * `Tally.isOver`. There are no more than `max` of them.
   */
  addSlices(tally: Tally, slices: readonly Slice[], max?: number): Promise<void>
}

/** Finds the events of one filter. */
export type EventFinder = Pick<
  ListPorts,
  'filter' | 'matches' | 'coveredTo' | 'openIndex' | 'visitAt'
>

/** One count. */
interface Count {
  readonly ports: CountPorts
  readonly query: CountsQuery
  readonly span: Span
  /** When the time of the query is over, as `performance.now()` counts. */
  readonly end: number
}

const timeLeft = (end: number): number => Math.max(0, Math.round(end - performance.now()))

const tallyOf = ({ span, end }: Count, query: CountsQuery): Tally =>
  createTally({ ...query, within: timeLeft(end) }, span)

const countsOf = (tally: Tally): Promise<EventCounts> => createTimeSlices().finish(tally.counts())

/** Counts the events of the span, in up to `query.within` milliseconds after `start`. */
export async function countWith(
  ports: CountPorts,
  query: CountsQuery,
  span: Span,
  start: number,
): Promise<EventCounts> {
  const counts = await countPlanned({ ports, query, span, end: start + query.within })
  return { ...counts, took_ms: Math.round(performance.now() - start) }
}

async function countPlanned(count: Count): Promise<EventCounts> {
  const { query } = count
  const filter = query.within > 0 ? indexFilter(filterParts(query).shared) : undefined
  const isLookup = filter !== undefined && leadsByValues(filter)
  const found = isLookup ? await tallyCandidates(count, query) : undefined
  if (found) return countsOf(found)
  const indexed = query.within > 0 ? await countWithFacets(count) : undefined
  if (indexed) return completeCounts(count, indexed)
  const others = filter && !isLookup ? await tallyCandidates(count, query) : undefined
  if (others) return countsOf(others)
  const total = withoutValues(query)
  const isApart = groupFields(total) !== undefined && groupFields(query) === undefined
  const tally = await tallyAll(count, isApart ? total : query)
  return countOthers(count, await countsOf(tally), (left) => tallyAll(count, left))
}

async function tallyAll(count: Count, query: CountsQuery): Promise<Tally> {
  const tally = tallyOf(count, query)
  await count.ports.addSlices(tally, tally.rounds.flat())
  return tally
}

/** Counts by the index, without facets if these take too long. */
async function countWithFacets(count: Count): Promise<IndexedFigures | undefined> {
  const { query } = count
  const total = withoutValues(query)
  const hasMore = query.facets.length > total.facets.length
  const found = await byIndex(count, query, halfwayTo(count.end))
  return found ?? (hasMore ? byIndex(count, total, count.end) : undefined)
}

async function byIndex(
  count: Count,
  query: CountsQuery,
  latest: number,
): Promise<IndexedFigures | undefined> {
  const open = (bounds: TimeBounds): ReturnType<CountPorts['openSealed']> =>
    count.ports.openSealed(bounds, latest)
  return withinLimit(() => countByIndex(query, tallyOf(count, query), open))
}

/** Does work that reads the index, again if the index changes meanwhile. `undefined` if it would take too long. */
async function withinLimit<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  for (;;)
    try {
      return await work()
    } catch (error) {
      if (error === READ_LIMIT_EXCEEDED) return undefined
      if (error !== INDEX_CHANGED) throw error
    }
}

/**
 * Adds the figures of the index in the slices that it covers, and the events in the others. Counts the facets that it could
 * not count, and the attributes, in the time that is left.
 */
async function completeCounts(
  count: Count,
  { figures, covered, rest, sealed }: IndexedFigures,
): Promise<EventCounts> {
  const { query, ports } = count
  const facets = query.facets.filter((facet) => facet === 'level' || figures.facets.has(facet))
  // Without the other facets, their conditions apply to all figures.
  const tally = tallyOf(count, { ...query, facets, attributes: false })
  await createTimeSlices().finish(addIndexed(tally, figures, covered, facets))
  // Segments have no open event.
  if (sealed.open.length > 0) {
    const finder = await ports.find(tally.shared, Infinity)
    await addAt(finder, tally, { slices: covered, times: sealed.open, latest: Infinity })
  }
  for (const slice of covered) tally.seen(slice)
  const { maxRest } = sealed
  if (maxRest === undefined) await ports.addSlices(tally, roundsWithin(tally.rounds, rest).flat())
  else await ports.addSlices(tally, rest, maxRest)
  return countOthers(
    count,
    await countsOf(tally),
    async (others) => (await tallyCandidates(count, others)) ?? tallyAll(count, others),
  )
}

/** Adds the facets that the counts lack, and the attributes, as `add` counts them. */
async function countOthers(
  { query }: Count,
  counts: EventCounts,
  add: (others: CountsQuery) => Promise<Tally>,
): Promise<EventCounts> {
  const facets = query.facets.filter((facet) => !Object.hasOwn(counts.facets, facet))
  if (facets.length === 0 && query.attributes === (counts.attributes !== undefined)) return counts
  const found = await countsOf(await add({ ...query, facets }))
  const all = { ...counts.facets, ...found.facets }
  return {
    ...counts,
    facets: Object.fromEntries(query.facets.map((facet) => [facet, all[facet]!])),
    attributes: found.attributes,
    exact: { ...counts.exact, attributes: found.exact.attributes },
  }
}

/** With more, a sample of all events says as much. */
const MAX_CANDIDATES = 10_000
/** Parts of the index that are searched together. */
const PARTS = 8

/** Counts the events that the index finds. `undefined` if they are many, or if half of the time is over. */
async function tallyCandidates(count: Count, query: CountsQuery): Promise<Tally | undefined> {
  const latest = halfwayTo(count.end)
  return withinLimit(async () => {
    const tally = tallyOf(count, query)
    const slices = wholeCells(tally)
    if (slices.length === 0) return undefined
    const finder = await count.ports.find(tally.shared, latest)
    if (!finder.filter) return undefined
    const bounds = { from: slices[0]!.from, to: slices.at(-1)!.to }
    const times = await candidateTimes(finder, bounds)
    if (!times) return undefined
    await addAt(finder, tally, { slices, times, latest })
    for (const slice of slices) tally.seen(slice)
    return tally
  })
}

/** The times of the events that may match; `undefined` if they are many, or if the index does not cover the bounds. */
async function candidateTimes(
  finder: EventFinder,
  bounds: TimeBounds,
): Promise<readonly Microseconds[] | undefined> {
  const to = await finder.coveredTo()
  if (to === undefined || to < bounds.to) return undefined
  const session = await finder.openIndex(bounds)
  const sets: PartPostings[] = []
  let count = 0
  for (let from = 0; from < session.parts.length; from += PARTS) {
    const found = await session.find(session.parts.slice(from, from + PARTS))
    session.release()
    count += found.reduce((sum, { postings }) => sum + postings.size, 0)
    if (count > MAX_CANDIDATES) return undefined
    sets.push(...found)
  }
  return session.timesOf(sets, 'asc', bounds, Infinity)
}

interface AddedTimes {
  /** In order of time. */
  readonly slices: readonly Slice[]
  readonly times: readonly Microseconds[]
  readonly latest: number
}

/** Adds the events at the times that match and are within the slices. */
async function addAt(
  { matches, visitAt }: EventFinder,
  tally: Tally,
  { slices, times, latest }: AddedTimes,
): Promise<void> {
  const inside = times.filter((time) => sliceAt(slices, time) !== undefined)
  await visitAt(inside, 'asc', (event) => {
    if (performance.now() > latest) throw READ_LIMIT_EXCEEDED
    const { cell } = sliceAt(slices, parseTimestamp(event.created_at)!)!
    const added = thenDecided(matches(event), (isMatch) => isMatch && tally.add(cell, event))
    return thenDecided(added, () => false)
  })
}

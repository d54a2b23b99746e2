import { throwIfAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT } from '../filter/ast.js'
import { type TimeBounds, timeBounds } from '../filter/bounds.js'
import { compareScalars, firstInOrderOf } from '../filter/order.js'
import type { Steps } from '../filter/steps.js'
import { createTimeSlices } from '../filter/time-slices.js'
import type { CountsQuery, EventCounts, Facet, TimeRange } from '../store/counts.js'
import type {
  EventGroup,
  EventGroups,
  GroupsQuery,
  GroupValue,
  NumberSummary,
} from '../store/groups.js'
import type { EventPage, ListOptions, ReadOptions } from '../store/store.js'
import { timeBuckets } from '../store/time-buckets.js'
import { type Estimate, estimateCount, type Sample } from './estimates.js'
import { createGroupTally, type GroupTally, keyOf, type TalliedGroup } from './group-tally.js'
import { type Slice, slicesOf, timesBetween } from './read-slices.js'

/** The methods of a log that grouping uses. */
export interface GroupedLog {
  list(query: EventQuery, options: ListOptions): Promise<Pick<EventPage, 'events' | 'truncated'>>
  pages(query: EventQuery, options: ListOptions): AsyncIterable<readonly AuditEvent[]>
  count(query: CountsQuery, options: ReadOptions): Promise<EventCounts>
}

// The first page gets a quarter of the time, and so does the first count.
const FIRST_SHARE = 4
/** Number of parts of the time range whose events are counted, so that slices get about the same number of events. */
const COUNTED_PARTS = 500
/** Number of events up to which one slice is read from its end to its beginning. */
const MAX_IN_ONE_SLICE = 10_000
/** Number of slices that are read in any case, so that every answer has an estimate. */
const MIN_SLICES = 16

/** The times of the oldest and the newest visible event; `undefined` without events. */
async function visibleSpan(
  log: GroupedLog,
  visible: Grouping | undefined,
  options: ReadOptions,
): Promise<TimeRange | undefined> {
  const timeAt = async (direction: 'asc' | 'desc'): Promise<Microseconds | undefined> => {
    const sorts = [{ attribute: 'created_at', direction }]
    const query = { where: visible, sorts, limit: 1 }
    const { events } = await log.list(query, { ...options, lazy: true })
    return events[0] && parseTimestamp(events[0].created_at)
  }
  const from = await timeAt('asc')
  const to = await timeAt('desc')
  return from === undefined || to === undefined ? undefined : { from, to }
}

interface Counted {
  readonly total: number
  readonly isExact: boolean
  readonly slices: readonly Slice[]
  /** Values of the only attribute, as an index has counted them. */
  readonly facet: Facet | undefined
}

const NOTHING: Counted = { total: 0, isExact: true, slices: [], facet: undefined }

/** Counts the matching events of the range, and cuts it into slices. */
async function countFirst(
  log: GroupedLog,
  { where, visible, by, top, within }: GroupsQuery,
  range: TimeRange,
  options: ReadOptions,
): Promise<Counted> {
  if (range.from > range.to) return NOTHING
  const facets = by.length === 1 ? by : []
  const inRange = timesBetween(range.from, range.to + 1)
  // The filter is a part of `visible`. So it also applies to the facet of an attribute that it names.
  const counts = await log.count(
    {
      where: undefined,
      visible: bothOf(bothOf(visible, where), inRange),
      buckets: { count: COUNTED_PARTS, zone: 'UTC' },
      facets,
      top,
      attributes: false,
      within: Math.floor(within / FIRST_SHARE),
    },
    options,
  )
  const { total, buckets } = counts
  const isExact = counts.exact.total
  if (total === 0 && isExact) return NOTHING
  const [facet] = facets.map((name) => counts.facets[name]!)
  const isComplete = facet?.exact === true
  const found = buckets?.buckets ?? []
  // A lower bound may have no buckets although a few events match.
  const isOne = found.length === 0 || (isExact && total <= MAX_IN_ONE_SLICE)
  const slices = isOne ? [{ from: range.from, to: range.to + 1 }] : slicesOf(found, range, isExact)
  return { total, isExact, slices, facet: isComplete ? facet : undefined }
}

/** The matching events, if they fit in one page and are found fast; else `undefined`. */
async function allOf(
  log: GroupedLog,
  where: Grouping | undefined,
  within: number,
  options: ReadOptions,
): Promise<readonly AuditEvent[] | undefined> {
  if (within === 0) return undefined
  const { signal } = options
  const limit = AbortSignal.timeout(Math.ceil(within / FIRST_SHARE))
  const either = signal ? AbortSignal.any([signal, limit]) : limit
  try {
    const query = { where, sorts: [], limit: MAX_LIMIT }
    const page = await log.list(query, { ...options, signal: either, lazy: true })
    return page.truncated ? undefined : page.events
  } catch (error) {
    throwIfAborted(signal)
    if (limit.aborted) return undefined
    throw error
  }
}

function* addAll(tally: GroupTally, events: readonly AuditEvent[]): Steps<void> {
  for (const event of events) {
    yield* tally.add(event)
    yield
  }
}

/** Compares values of the same attribute; null comes last. */
function compareValues(left: GroupValue, right: GroupValue): number {
  if (left === null || right === null) return Number(left === null) - Number(right === null)
  return compareScalars(left, right)
}

type Counts = Pick<EventGroup, 'values' | 'count'>

/** The most frequent first, ties in the order of the values. */
function compareGroups(left: Counts, right: Counts): number {
  if (left.count !== right.count) return right.count - left.count
  for (const [i, value] of left.values.entries()) {
    const order = compareValues(value, right.values[i]!)
    if (order !== 0) return order
  }
  return 0
}

/** The counts of an index as groups. */
const facetGroups = ({ values, missing }: Facet): readonly Counts[] => [
  ...values.map(({ value, count }) => ({ values: [value as GroupValue], count })),
  ...(missing > 0 ? [{ values: [null], count: missing }] : []),
]

interface Read {
  readonly query: GroupsQuery
  readonly sample: Sample
  readonly isWhole: boolean
  readonly tally: GroupTally
}

/** Scales the buckets of the read events, so that their sum is about the count. */
const scaledBuckets = (
  { count, buckets }: TalliedGroup,
  estimate: number,
): readonly number[] | undefined =>
  buckets && Array.from(buckets, (one) => Math.round((one * estimate) / count))

function* numbersOf(
  { query, isWhole }: Read,
  { numbers, slices }: TalliedGroup,
): Steps<EventGroup['numbers']> {
  const found: [name: string, NumberSummary][] = []
  for (const [i, name] of query.numbers.entries()) {
    const summary = yield* numbers[i]!.summary(isWhole ? undefined : slices)
    if (summary) found.push([name, summary])
  }
  return Object.fromEntries(found)
}

/** `known`: the exact count of an index. */
function* groupOf(read: Read, one: Counts, known: boolean): Steps<EventGroup> {
  const { tally, isWhole, sample } = read
  const tallied = tally.groups.get(keyOf(one.values))
  const exact = known || isWhole
  const { count, error }: Estimate =
    exact || !tallied ? { count: one.count, error: 0 } : estimateCount(sample, tallied)
  return {
    values: one.values,
    count,
    exact,
    error,
    buckets: tallied && scaledBuckets(tallied, count),
    numbers: tallied ? yield* numbersOf(read, tallied) : {},
  }
}

function* groupsOf(read: Read, facet: Facet | undefined): Steps<readonly EventGroup[]> {
  const known = read.isWhole ? undefined : facet && facetGroups(facet)
  const order = firstInOrderOf<Counts>(
    known ?? read.tally.groups.values(),
    read.query.top,
    compareGroups,
  )
  const groups: EventGroup[] = []
  for (const one of order) groups.push(yield* groupOf(read, one, known !== undefined))
  return groups
}

/** The bounds of the filter. A missing bound is the time of the oldest or the newest event. */
function rangeOf(bounds: TimeBounds, span: TimeRange): TimeRange | undefined {
  const from = Number.isFinite(bounds.from) ? Math.max(0, bounds.from) : span.from
  const to = Number.isFinite(bounds.to) ? bounds.to : Math.max(span.to, from)
  return from <= to ? { from, to } : undefined
}

const intersection = (bounds: TimeBounds, span: TimeRange): TimeRange => ({
  from: Math.max(bounds.from, span.from),
  to: Math.min(bounds.to, span.to),
})

/**
 * Groups the matching events. First counts them, because an index does this exactly and fast. Then reads them in
 * slices that are spread over the whole time range, until all are read or the time is over.
 */
export async function groupEvents(
  log: GroupedLog,
  query: GroupsQuery,
  options: ReadOptions,
): Promise<EventGroups> {
  const start = performance.now()
  const { visible, within } = query
  const where = bothOf(visible, query.where)
  const bounds = timeBounds(where)
  const span = await visibleSpan(log, visible, options)
  const buckets = query.buckets && timeBuckets(span && rangeOf(bounds, span), query.buckets)
  const all = span && (await allOf(log, where, within, options))
  const { total, isExact, slices, facet } =
    span && !all ? await countFirst(log, query, intersection(bounds, span), options) : NOTHING
  const tally = createGroupTally(query, buckets?.edges ?? [])
  const time = createTimeSlices()
  if (all) await time.finish(addAll(tally, all))
  for (const { from, to } of slices) {
    if (tally.slices >= MIN_SLICES && performance.now() - start >= within) break
    const inSlice = { where: bothOf(where, timesBetween(from, to)), sorts: [], limit: MAX_LIMIT }
    for await (const events of log.pages(inSlice, { ...options, lazy: true }))
      await time.finish(addAll(tally, events))
    tally.endSlice()
  }
  const isWhole = tally.slices === slices.length
  const sample = { tally, slices: slices.length, total: isExact ? total : undefined }
  const groups = await time.finish(groupsOf({ query, sample, isWhole, tally }, facet))
  const isCounted = !isWhole && facet !== undefined
  const scaled = Math.round((tally.read * slices.length) / Math.max(1, tally.slices))
  return {
    by: query.by,
    groups,
    distinct: isCounted ? facet.distinct + Number(facet.missing > 0) : tally.groups.size,
    total: isWhole ? tally.read : isExact ? total : scaled,
    exact: { total: isWhole || isExact, groups: isCounted || (isWhole && !tally.isFull) },
    read: tally.read,
    buckets: buckets && { ...buckets, edges: buckets.edges.map(formatTimestamp) },
    took_ms: Math.round(performance.now() - start),
  }
}

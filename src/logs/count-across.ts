import type { JsonValue } from '../event/event.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import { bothOf, oneCondition, type Grouping } from '../filter/ast.js'
import { MAX_TOP } from '../counting/count-options.js'
import { timeBounds } from '../filter/bounds.js'
import { compareScalars } from '../filter/order.js'
import type {
  Bucket,
  Buckets,
  CountsQuery,
  EventCounts,
  Facet,
  LevelCounts,
  SeenAttribute,
  ValueCount,
} from '../store/counts.js'
import type { EventQuery } from '../filter/ast.js'
import { forEachLog, groupsOf, type LogsContext } from './named-logs.js'
import { type LogsRangeOptions, rangeOf } from './range.js'

const OLDEST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]
const MAX_ATTRIBUTES = 1000
const MAX_SAMPLES = 5

function addLevels(left: LevelCounts, right: LevelCounts): LevelCounts {
  const sum: Record<string, number> = { ...left }
  for (const [level, count] of Object.entries(right)) sum[level] = (sum[level] ?? 0) + count
  return sum
}

/**
 * Adds two buckets of the same time. `logs` is the number of logs in the left one; the share becomes the average over
 * all logs.
 */
function addBucket(left: Bucket, right: Bucket, logs: number): Bucket {
  const { from, to } = left
  const isPart = left.share !== undefined || right.share !== undefined
  const share = ((left.share ?? 1) * logs + (right.share ?? 1)) / (logs + 1)
  return {
    from,
    to,
    total: left.total + right.total,
    levels: addLevels(left.levels, right.levels),
    ...(isPart && { share }),
  }
}

/** Adds buckets. `logs` is the number of logs in the left ones. */
function addBuckets(
  left: Buckets | undefined,
  right: Buckets | undefined,
  logs: number,
): Buckets | undefined {
  if (!left || !right) return left ?? right
  // Without a matching event there are no buckets.
  if (left.buckets.length === 0) return right
  if (right.buckets.length === 0) return left
  const buckets = left.buckets.map((bucket, i) => addBucket(bucket, right.buckets[i]!, logs))
  return { ...left, buckets }
}

const keyOf = (value: JsonValue): string => JSON.stringify(value)

const byCount = (a: ValueCount, b: ValueCount): number =>
  b.count - a.count || compareScalars(a.value as string, b.value as string)

function addValues(left: readonly ValueCount[], right: readonly ValueCount[]): ValueCount[] {
  const sums = new Map(left.map((one) => [keyOf(one.value), one]))
  for (const { value, count } of right) {
    const known = sums.get(keyOf(value))?.count ?? 0
    sums.set(keyOf(value), { value, count: known + count })
  }
  return [...sums.values()]
}

/** A facet that names all of its values. */
const isWhole = ({ values, distinct, exact }: Facet): boolean => exact && values.length === distinct

function addFacet(left: Facet, right: Facet): Facet {
  const values = addValues(left.values, right.values)
  const exact = isWhole(left) && isWhole(right)
  return {
    values,
    // The values that are not listed may be the same on both sides.
    distinct: Math.max(values.length, left.distinct, right.distinct),
    missing: left.missing + right.missing,
    exact,
  }
}

function addAttributes(
  left: readonly SeenAttribute[] | undefined,
  right: readonly SeenAttribute[] | undefined,
): readonly SeenAttribute[] | undefined {
  if (!left || !right) return left ?? right
  const sums = new Map(left.map((one) => [one.name, one]))
  for (const one of right) {
    const known = sums.get(one.name)
    sums.set(
      one.name,
      known
        ? {
            name: one.name,
            types: [...new Set([...known.types, ...one.types])],
            count: known.count + one.count,
            values: addValues(known.values, one.values),
          }
        : one,
    )
  }
  return [...sums.values()]
}

function addCounts(left: EventCounts, right: EventCounts, logs: number): EventCounts {
  const facets = Object.entries(left.facets).map(
    ([name, facet]) => [name, addFacet(facet, right.facets[name]!)] as const,
  )
  return {
    total: left.total + right.total,
    levels: addLevels(left.levels, right.levels),
    buckets: addBuckets(left.buckets, right.buckets, logs),
    facets: Object.fromEntries(facets),
    attributes: addAttributes(left.attributes, right.attributes),
    exact: {
      total: left.exact.total && right.exact.total,
      levels: left.exact.levels && right.exact.levels,
      buckets: left.exact.buckets && right.exact.buckets,
      // Attributes and values beyond the most frequent ones are not known.
      attributes: left.exact.attributes && right.exact.attributes,
    },
    took_ms: left.took_ms,
  }
}

const sortedByCount = <Item extends { readonly count: number; readonly name: string }>(
  items: readonly Item[],
): Item[] => items.toSorted((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))

/** Keeps as many values and attributes as a count of one log does. */
function cutCounts(counts: EventCounts, top: number): EventCounts {
  const facets = Object.entries(counts.facets).map(([name, facet]) => [
    name,
    { ...facet, values: facet.values.toSorted(byCount).slice(0, top) },
  ])
  const attributes =
    counts.attributes &&
    sortedByCount(counts.attributes)
      .slice(0, MAX_ATTRIBUTES)
      .map((one) => ({ ...one, values: one.values.toSorted(byCount).slice(0, MAX_SAMPLES) }))
  return { ...counts, facets: Object.fromEntries(facets), attributes }
}

const NOTHING: EventCounts = {
  total: 0,
  levels: {},
  buckets: undefined,
  facets: {},
  attributes: undefined,
  exact: { total: true, levels: true, buckets: true, attributes: true },
  took_ms: 0,
}

/** Counts the events of one log. */
export interface CountLog {
  count(query: CountsQuery, options: { readonly signal: AbortSignal }): Promise<EventCounts>
}

export type CountsContext = LogsContext & { readonly countOf: (key: string) => CountLog }

/**
 * Bounds of the time that all logs share, so that they have the same buckets: from the oldest visible event of all
 * logs to the present.
 */
async function sharedSpan(
  context: CountsContext,
  { where, buckets }: CountsQuery,
  options: LogsRangeOptions,
): Promise<Grouping | undefined> {
  if (!buckets) return undefined
  let first: string | undefined
  let last: Microseconds = 0
  for await (const group of groupsOf(context, options, rangeOf(options)))
    await forEachLog(group, options.signal, async (one, signal) => {
      const { visible } = one
      const log = one.log()
      const reading = { signal, lazy: true }
      const oldest = await log.list({ where: visible, sorts: OLDEST, limit: 1 }, reading)
      const newest = await log.list({ where: visible, sorts: [], limit: 1 }, reading)
      const time = oldest.events[0]?.created_at
      if (time !== undefined && (first === undefined || time < first)) first = time
      const end = newest.events[0] ? parseTimestamp(newest.events[0].created_at)! : 0
      last = Math.max(last, end, log.store.clock?.() ?? Date.now() * 1000)
    })
  const bounds = timeBounds(where)
  const from =
    first !== undefined && bounds.from === -Infinity
      ? oneCondition('created_at', 'gteq', [first])
      : undefined
  const to =
    bounds.to === Infinity ? oneCondition('created_at', 'lteq', [formatTimestamp(last)]) : undefined
  return bothOf(from, to)
}

/**
 * The sums of the counts of all logs. A figure is exact if it is exact in each log. A facet is exact only if, in
 * addition, every log lists all of its values. Other figures are lower bounds.
 */
export async function countAcross(
  context: CountsContext,
  query: CountsQuery,
  options: LogsRangeOptions,
): Promise<EventCounts> {
  const start = performance.now()
  const span = await sharedSpan(context, query, options)
  let sum: EventCounts | undefined
  let logs = 0
  for await (const group of groupsOf(context, options, rangeOf(options))) {
    const counts = await forEachLog(group, options.signal, ({ key, visible }, signal) => {
      const restricted = bothOf(bothOf(query.visible, visible), span)
      const wanted = { ...query, top: MAX_TOP, visible: restricted }
      return context.countOf(key).count(wanted, { signal })
    })
    for (const one of counts) {
      sum = sum ? addCounts(sum, one, logs) : one
      logs += 1
    }
  }
  const counted = sum ? cutCounts(sum, query.top) : NOTHING
  return { ...counted, took_ms: performance.now() - start }
}

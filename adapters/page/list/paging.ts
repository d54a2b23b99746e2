import type { AuditEvent } from '../../../src/event/event.js'
import type { Condition, Sort } from '../../../src/filter/ast.js'
import {
  apiQuery,
  type Conjunct,
  conditionOn,
  isGrouping,
  type PageQuery,
  valueCondition,
} from '../data/query.js'

/* Keyset pagination: the queries for the pages before and after an event. */

/** The sort attributes that support pagination. An event has at most one value of each, a text. */
type Key = 'created_at' | 'type' | 'username'

interface KeySort {
  readonly attribute: Key
  readonly direction: 'asc' | 'desc'
}

const KEYS: ReadonlySet<string> = new Set<Key>(['created_at', 'type', 'username'])

const NEWEST_FIRST: readonly KeySort[] = [{ attribute: 'created_at', direction: 'desc' }]

const isKeySort = (sort: Sort): sort is KeySort => KEYS.has(sort.attribute)

/** True if events are sorted newest first, as live updates require. */
export const isNewestFirst = (sorts: readonly Sort[]): boolean => sorts.length === 0

/** True if events are sorted by time, so that day headings make sense. */
export const isByTime = (sorts: readonly Sort[]): boolean =>
  isNewestFirst(sorts) || sorts[0]!.attribute === 'created_at'

/** The total order of the list; `undefined` if the sorts do not support pagination. */
function orderOf(sorts: readonly Sort[]): readonly KeySort[] | undefined {
  const [sort] = sorts
  if (!sort) return NEWEST_FIRST
  if (sorts.length > 1 || !isKeySort(sort)) return undefined
  return sort.attribute === 'created_at'
    ? [sort]
    : [sort, { attribute: 'created_at', direction: 'asc' }]
}

export const isPaged = (sorts: readonly Sort[]): boolean => orderOf(sorts) !== undefined

const reversed = (order: readonly KeySort[]): readonly KeySort[] =>
  order.map(({ attribute, direction }) => ({
    attribute,
    direction: direction === 'asc' ? 'desc' : 'asc',
  }))

const either = (...all: readonly Conjunct[]): Conjunct => joined('or', all)

function joined(combinator: 'and' | 'or', all: readonly Conjunct[]): Conjunct {
  return {
    combinator,
    conditions: all.filter((one): one is Condition => !isGrouping(one)),
    groupings: all.filter(isGrouping),
  }
}

/** The condition for events after the given one. Missing values sort last ascending, first descending. */
function eventsAfter([sort, ...rest]: readonly KeySort[], event: AuditEvent): Conjunct {
  const { attribute, direction } = sort!
  const value = event[attribute]
  const isAscending = direction === 'asc'
  const beyond = (): Conjunct =>
    conditionOn(attribute, isAscending ? 'gt' : 'lt', [value as string])
  if (rest.length === 0) return beyond()
  const alike = joined('and', [valueCondition(attribute, value), eventsAfter(rest, event)])
  if (value === null) return isAscending ? alike : either(alike, conditionOn(attribute, 'not_null'))
  return isAscending
    ? either(beyond(), alike, conditionOn(attribute, 'null'))
    : either(beyond(), alike)
}

/** The query of a page. `isReversed` is true if its result must be reversed. */
export interface PageRequest {
  readonly query: string
  readonly isReversed: boolean
}

interface PagePart {
  /** The order in which the endpoint sorts. */
  readonly order: readonly KeySort[]
  readonly where: readonly Conjunct[]
  readonly now: Date
  /** True if `order` is the reverse of the order that the list shows. */
  readonly isReverse?: boolean
}

/** Builds a request. Without sorts, the endpoint returns the newest events, oldest first. */
function requestOf(
  query: PageQuery,
  { order, where, now, isReverse = false }: PagePart,
): PageRequest {
  const [{ attribute, direction }] = order as [KeySort]
  const isNewest = attribute === 'created_at' && direction === 'desc'
  const paged = { ...query, where: [...query.where, ...where], sorts: isNewest ? [] : order }
  return { query: apiQuery(paged, now), isReversed: isNewest !== isReverse }
}

/** The first page. */
export function firstPage(query: PageQuery, now: Date): PageRequest {
  const order = orderOf(query.sorts)
  if (!order) return { query: apiQuery(query, now), isReversed: false }
  return requestOf(query, { order, where: [], now })
}

/** The page after an event. The sorts must be {@link isPaged}. */
export function nextPage(query: PageQuery, event: AuditEvent, now: Date): PageRequest {
  const order = orderOf(query.sorts)!
  return requestOf(query, { order, where: [eventsAfter(order, event)], now })
}

/** The page directly before an event. The sorts must be {@link isPaged}. */
export function previousPage(query: PageQuery, event: AuditEvent, now: Date): PageRequest {
  const order = reversed(orderOf(query.sorts)!)
  return requestOf(query, { order, where: [eventsAfter(order, event)], now, isReverse: true })
}

/** The pages before and after a time. The list must be sorted {@link isByTime}. */
export function pagesAround(
  query: PageQuery,
  time: string,
  now: Date,
): { readonly previous: PageRequest; readonly next: PageRequest } {
  const order = orderOf(query.sorts)!
  const isDescending = order[0]!.direction === 'desc'
  const older = conditionOn('created_at', 'lteq', [time])
  const newer = conditionOn('created_at', 'gt', [time])
  return {
    previous: requestOf(query, {
      order: reversed(order),
      where: [isDescending ? newer : older],
      now,
      isReverse: true,
    }),
    next: requestOf(query, { order, where: [isDescending ? older : newer], now }),
  }
}

/** The order after a click on a column header. The default order is newest first. */
export function nextSorts(sorts: readonly Sort[], attribute: string): readonly Sort[] {
  const [present] = sorts
  if (attribute === 'created_at') return present ? [] : [{ attribute, direction: 'asc' }]
  const isAscending = present?.attribute === attribute && present.direction === 'asc'
  if (present?.attribute === attribute && !isAscending) return []
  return [{ attribute, direction: isAscending ? 'desc' : 'asc' }]
}

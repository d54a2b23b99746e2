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

/* How a list goes on from an event, either way. */

/** The attributes whose order can be gone on in: every event has one text, or none. */
type Key = 'created_at' | 'type' | 'username'

interface KeySort {
  readonly attribute: Key
  readonly direction: 'asc' | 'desc'
}

const KEYS: ReadonlySet<string> = new Set<Key>(['created_at', 'type', 'username'])

const NEWEST_FIRST: readonly KeySort[] = [{ attribute: 'created_at', direction: 'desc' }]

const isKeySort = (sort: Sort): sort is KeySort => KEYS.has(sort.attribute)

/** Whether events come newest first, which is how new ones can join them. */
export const isNewestFirst = (sorts: readonly Sort[]): boolean => sorts.length === 0

/** Whether events come by time, so that they have days. */
export const isByTime = (sorts: readonly Sort[]): boolean =>
  isNewestFirst(sorts) || sorts[0]!.attribute === 'created_at'

/** The total order of the list; `undefined` for one that shows its first events only. */
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

/** What comes behind the event: without a value comes last ascending, first descending. */
function behind([sort, ...rest]: readonly KeySort[], event: AuditEvent): Conjunct {
  const { attribute, direction } = sort!
  const value = event[attribute]
  const isAscending = direction === 'asc'
  const further = (): Conjunct =>
    conditionOn(attribute, isAscending ? 'gt' : 'lt', [value as string])
  if (rest.length === 0) return further()
  const alike = joined('and', [valueCondition(attribute, value), behind(rest, event)])
  if (value === null) return isAscending ? alike : either(alike, conditionOn(attribute, 'not_null'))
  return isAscending
    ? either(further(), alike, conditionOn(attribute, 'null'))
    : either(further(), alike)
}

/** A page to ask for, and whether it comes in the list's order or against it. */
export interface PageRequest {
  readonly query: string
  readonly isReversed: boolean
}

/** Without sorts the endpoint gives the newest, oldest first. */
function requestOf(
  query: PageQuery,
  order: readonly KeySort[],
  where: readonly Conjunct[],
  now: Date,
  against: boolean,
): PageRequest {
  const [{ attribute, direction }] = order as [KeySort]
  const isNewest = attribute === 'created_at' && direction === 'desc'
  const asked = { ...query, where: [...query.where, ...where], sorts: isNewest ? [] : order }
  return { query: apiQuery(asked, now), isReversed: isNewest !== against }
}

/** The list's beginning. */
export function firstPage(query: PageQuery, now: Date): PageRequest {
  const order = orderOf(query.sorts)
  if (!order) return { query: apiQuery(query, now), isReversed: false }
  return requestOf(query, order, [], now, false)
}

/** What comes behind an event; only of a list that {@link isPaged}. */
export function nextPage(query: PageQuery, event: AuditEvent, now: Date): PageRequest {
  const order = orderOf(query.sorts)!
  return requestOf(query, order, [behind(order, event)], now, false)
}

/** What comes before an event, the nearest of it. */
export function previousPage(query: PageQuery, event: AuditEvent, now: Date): PageRequest {
  const order = reversed(orderOf(query.sorts)!)
  return requestOf(query, order, [behind(order, event)], now, true)
}

/** The pages that lead away from a time; only of a list that {@link isByTime}. */
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
    previous: requestOf(query, reversed(order), [isDescending ? newer : older], now, true),
    next: requestOf(query, order, [isDescending ? older : newer], now, false),
  }
}

/** The order that a click on a column's head leads to; the list's own is newest first. */
export function nextSorts(sorts: readonly Sort[], attribute: Key): readonly Sort[] {
  const [present] = sorts
  if (attribute === 'created_at') return present ? [] : [{ attribute, direction: 'asc' }]
  const isAscending = present?.attribute === attribute && present.direction === 'asc'
  if (present?.attribute === attribute && !isAscending) return []
  return [{ attribute, direction: isAscending ? 'desc' : 'asc' }]
}

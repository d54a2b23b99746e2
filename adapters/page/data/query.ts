import type { Condition, EventQuery, Grouping, Sort } from '../../../src/filter/ast.js'
import { formatQuery } from '../../../src/filter/format.js'
import { parseQueryText } from '../../../src/filter/parse.js'
import type { PredicateName } from '../../../src/filter/predicates.js'

/** One of the conditions of a query, all of which must be true. Shown as one chip. */
export type Conjunct = Condition | Grouping

/** The RFC 3339 ends of a range; `undefined` for an open end. */
export interface RangeEnds {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** A time range: relative to now, as written (`24h`, `yesterday`), or with absolute ends. */
export type Range = { readonly last: string } | RangeEnds

/** Resolves calendar ranges such as `yesterday`. Set by its module, which is loaded on first use. */
export const resolvers: {
  calendar?: (name: string, now: Date) => RangeEnds | undefined
} = {}

/** The query of the page: filters, order and time range. */
export interface PageQuery {
  readonly where: readonly Conjunct[]
  readonly sorts: readonly Sort[]
  readonly range: Range
}

export const isGrouping = (conjunct: Conjunct): conjunct is Grouping => 'groupings' in conjunct

export const ALL_TIME: Range = {}

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

const RELATIVE = /^([1-9]\d{0,4})([mhdw])$/

/** The milliseconds in `15m`, `24h`, `7d` or `4w`; `undefined` for any other text. */
export function relativeMilliseconds(text: string): number | undefined {
  const [, count, unit] = RELATIVE.exec(text) ?? []
  return count === undefined ? undefined : Number(count) * UNITS[unit!]!
}

export function conditionOn(
  attribute: string,
  predicate: PredicateName,
  values: readonly string[] = [],
): Condition {
  return { attributes: [attribute], combinator: 'and', predicate, values }
}

function isOn(conjunct: Conjunct, attribute: string, predicate: PredicateName): boolean {
  return (
    !isGrouping(conjunct) &&
    conjunct.predicate === predicate &&
    conjunct.attributes.length === 1 &&
    conjunct.attributes[0] === attribute
  )
}

const conjunctsOf = (where: Grouping | undefined): readonly Conjunct[] => {
  if (!where) return []
  if (where.combinator === 'or') return [where]
  return [...where.conditions, ...where.groupings]
}

/** Removes the conjunct that bounds the range, and returns its value. With several such conjuncts, none is removed. */
function takeBound(
  conjuncts: readonly Conjunct[],
  predicate: PredicateName,
): [bound: string | undefined, rest: readonly Conjunct[]] {
  const bounds = conjuncts.filter((conjunct) => isOn(conjunct, 'created_at', predicate))
  if (bounds.length !== 1) return [undefined, conjuncts]
  return [(bounds[0] as Condition).values[0], conjuncts.filter((other) => other !== bounds[0])]
}

/**
 * Parses the query string of the page: `range=24h`, and filters as the endpoint takes them.
 * Throws `AuditLogError` like `parseQuery`, and `RangeError` for an invalid range.
 */
export function parsePageQuery(search: string): PageQuery {
  const pairs = search.replace(/^\?/, '').split('&')
  const isRange = (pair: string): boolean => pair.startsWith('range=')
  const filter = pairs.filter((pair) => pair !== '' && !isRange(pair) && !pair.startsWith('limit='))
  const last = pairs.findLast(isRange)?.slice('range='.length)
  if (last !== undefined && last !== 'all' && !endsOf(last, new Date())) throw new RangeError(last)
  const { where, sorts } = parseQueryText(filter.join('&'))
  const all = conjunctsOf(where)
  if (last !== undefined && last !== 'all') return { where: all, sorts, range: { last } }
  const [from, withoutFrom] = takeBound(all, 'gteq')
  const [to, rest] = takeBound(withoutFrom, 'lt')
  return { where: rest, sorts, range: { from, to } }
}

/** The filters of a query string. Unlike {@link parsePageQuery}, it needs no module for calendar ranges. */
export const filtersOf = (search: string): readonly Conjunct[] =>
  parsePageQuery(search.replace(/^range=[^&]*/, '')).where

/** The conjuncts as one grouping joined with `and`; `undefined` without any. */
export function groupingOf(conjuncts: readonly Conjunct[]): Grouping | undefined {
  if (conjuncts.length === 0) return undefined
  const [only] = conjuncts
  if (conjuncts.length === 1 && isGrouping(only!) && only.combinator === 'or') return only
  return {
    combinator: 'and',
    conditions: conjuncts.filter((conjunct): conjunct is Condition => !isGrouping(conjunct)),
    groupings: conjuncts.filter(isGrouping),
  }
}

function filterText(where: readonly Conjunct[], sorts: readonly Sort[]): string {
  const query: EventQuery = { where: groupingOf(where), sorts, limit: 1 }
  return formatQuery(query).replace(/&?limit=1$/, '')
}

const boundsOf = ({ from, to }: RangeEnds) => [
  ...(from === undefined ? [] : [conditionOn('created_at', 'gteq', [from])]),
  ...(to === undefined ? [] : [conditionOn('created_at', 'lt', [to])]),
]

/** The inverse of {@link parsePageQuery}, without `?`. All time is `range=all`. */
export function formatPageQuery({ where, sorts, range }: PageQuery): string {
  if ('last' in range)
    return [`range=${range.last}`, filterText(where, sorts)].filter(Boolean).join('&')
  const bounds = boundsOf(range)
  const filter = filterText([...bounds, ...where], sorts)
  return bounds.length === 0 ? ['range=all', filter].filter(Boolean).join('&') : filter
}

/** The ends of a range that is relative to now; `undefined` for an unknown text. */
function endsOf(last: string, now: Date): RangeEnds | undefined {
  const length = relativeMilliseconds(last)
  if (length === undefined) return resolvers.calendar?.(last, now)
  return { from: `${new Date(now.getTime() - length).toISOString().slice(0, 19)}Z` }
}

/** The ends of the range, relative to `now`. */
export const rangeAt = (range: Range, now: Date): RangeEnds =>
  'last' in range ? endsOf(range.last, now)! : range

/** The query string for the API: with absolute times, without a limit. */
export function apiQuery(query: PageQuery, now = new Date()): string {
  return filterText([...boundsOf(rangeAt(query.range, now)), ...query.where], query.sorts)
}

/** The query string for the API without sorts and with further conditions. */
export function apiQueryWith(
  query: PageQuery,
  more: readonly Conjunct[],
  now = new Date(),
): string {
  return apiQuery({ ...query, where: [...query.where, ...more], sorts: [] }, now)
}

export const sameConjunct = (left: Conjunct, right: Conjunct): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

export function withConjunct(query: PageQuery, conjunct: Conjunct): PageQuery {
  if (query.where.some((other) => sameConjunct(other, conjunct))) return query
  return { ...query, where: [...query.where, conjunct] }
}

export function withoutConjunct(query: PageQuery, conjunct: Conjunct): PageQuery {
  return { ...query, where: query.where.filter((other) => !sameConjunct(other, conjunct)) }
}

export function replaceConjunct(query: PageQuery, old: Conjunct, conjunct: Conjunct): PageQuery {
  const where = query.where.map((other) => (sameConjunct(other, old) ? conjunct : other))
  return { ...query, where }
}

/** The condition that an attribute equals, or does not equal, a value. Null means that the attribute is missing. */
export function valueCondition(attribute: string, value: string | null, not = false): Condition {
  if (value === null) return conditionOn(attribute, not ? 'not_null' : 'null')
  return conditionOn(attribute, not ? 'not_eq' : 'eq', [value])
}

import type { Condition, EventQuery, Grouping } from './ast.js'
import { FREE_TEXT, formatFreeText, isFreeText } from './free-text.js'
import { predicateOf, splitKey } from './predicates.js'

type Pair = [name: string, value: string]

/** The short form of the condition's key, such as `type_eq`, if it parses to the same condition. */
function keyOf(condition: Condition): string | undefined {
  const attribute = condition.joinedName ?? condition.attributes[0]!
  if (condition.joinedName === undefined) {
    if (condition.attributes.length > 1 || /_or_|_and_/.test(attribute)) return undefined
  }
  if (/[[\]]/.test(attribute)) return undefined
  const key = `${attribute}_${condition.predicate}`
  const split = splitKey(key)
  return split?.attribute === attribute && split.predicate.name === condition.predicate
    ? key
    : undefined
}

function valuePairs(condition: Condition, name: string): Pair[] {
  const { takes } = predicateOf(condition.predicate)
  if (takes === 'flag') return [[name, '1']]
  if (takes === 'one') return [[name, condition.values[0]!]]
  return condition.values.map((value) => [`${name}[]`, value])
}

function longForm(condition: Condition, at: string): Pair[] {
  const values = predicateOf(condition.predicate).takes === 'flag' ? ['1'] : condition.values
  return [
    ...condition.attributes.map((attribute): Pair => [`${at}[a][]`, attribute]),
    ...(condition.combinator === 'or' ? [[`${at}[m]`, 'or'] satisfies Pair] : []),
    [`${at}[p]`, condition.predicate],
    ...values.map((value): Pair => [`${at}[v][]`, value]),
  ]
}

/** Parsing trims single top-level values. True if that does not change this condition. */
function isTrimmed({ predicate, values }: Condition): boolean {
  return predicateOf(predicate).takes === 'list' || values.every((value) => value === value.trim())
}

/**
 * The short key of each condition, or `undefined` for the long form. The parser reads all long forms
 * together, so conditions between two long ones take the long form too, which keeps the order.
 */
function keysOf(conditions: readonly Condition[], top: boolean): (string | undefined)[] {
  const used = new Set<string>()
  const keys = conditions.map((condition) => {
    const key = top && !isTrimmed(condition) ? undefined : keyOf(condition)
    if (key === undefined || used.has(key)) return undefined
    used.add(key)
    return key
  })
  const [first, last] = [keys.indexOf(undefined), keys.lastIndexOf(undefined)]
  const isBetween = (i: number): boolean => i > first && i < last
  return keys.map((key, i) =>
    isBetween(i) && conditions[i]!.joinedName === undefined ? undefined : key,
  )
}

function groupingPairs(grouping: Grouping, at: string, top: boolean): Pair[] {
  const pairs: Pair[] = grouping.combinator === 'or' ? [[`${at}[m]`, 'or']] : []
  const nested = [...grouping.groupings]
  const keys = keysOf(grouping.conditions, top)
  let conditions = 0
  for (const [i, condition] of grouping.conditions.entries()) {
    const key = keys[i]
    if (key !== undefined) pairs.push(...valuePairs(condition, `${at}[${key}]`))
    else if (condition.joinedName === undefined)
      pairs.push(...longForm(condition, `${at}[c][${conditions++}]`))
    // The long form cannot express a joined name, so put the condition into a grouping of its own.
    else nested.push({ combinator: 'and', conditions: [condition], groupings: [] })
  }
  for (const [i, child] of nested.entries())
    pairs.push(...groupingPairs(child, `${at}[g][${i}]`, false))
  return pairs
}

/** Free text among the conditions that must all hold is written as `q`. */
function wherePairs(where: Grouping): Pair[] {
  const isText = (condition: Condition): boolean =>
    where.combinator === 'and' && isFreeText(condition)
  const text = formatFreeText(where.conditions.filter(isText))
  if (text === undefined) return groupingPairs(where, 'filter', true)
  const conditions = where.conditions.filter((condition) => !isText(condition))
  return [[FREE_TEXT, text], ...groupingPairs({ ...where, conditions }, 'filter', true)]
}

/** Names without a character to encode. */
const PLAIN_NAME = /^[\w.[\]-]*$/

const encodeName = (name: string): string =>
  PLAIN_NAME.test(name)
    ? name
    : encodeURIComponent(name).replaceAll('%5B', '[').replaceAll('%5D', ']')

/** Names that `filter[sorts][]` does not read as they are. */
const LONG_NAME = /[\s,]|^-/

/**
 * The query string, without `?`, that {@link parseQuery} parses to this query. Square brackets are not
 * encoded, as the interface asks of clients.
 */
export function formatQuery(query: EventQuery): string {
  const pairs = query.where ? wherePairs(query.where) : []
  const isLong = query.sorts.some(({ attribute }) => LONG_NAME.test(attribute))
  for (const [i, { attribute, direction }] of query.sorts.entries())
    if (isLong)
      pairs.push([`filter[sorts][${i}][name]`, attribute], [`filter[sorts][${i}][dir]`, direction])
    else pairs.push(['filter[sorts][]', `${attribute} ${direction}`])
  pairs.push(['limit', String(query.limit)])
  return pairs.map(([name, value]) => `${encodeName(name)}=${encodeURIComponent(value)}`).join('&')
}

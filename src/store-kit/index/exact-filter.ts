import { isStorableText } from '../../event/json-copy.js'
import { ANY_TEXT, isOwnField, SOURCE } from '../../event/own-fields.js'
import { type Combinator, type Condition, type Grouping, isAlternative } from '../../filter/ast.js'
import { setsTimeBound } from '../../filter/bounds.js'
import { isWholeId } from '../../filter/evaluate.js'
import { type Predicate, predicateOf } from '../../filter/predicates.js'

/** A filter for which an index can have exactly the matching events. */
export type ExactFilter =
  | { readonly combinator: Combinator; readonly parts: readonly ExactFilter[] }
  | ExactTest
  /** Tests that some text contains the text. */
  | { readonly anyText: string; readonly negated: boolean }
  /** Tests every value of the attribute. The index has the matches if each event that passes has one value. */
  | { readonly oneValueOf: string; readonly passing: ExactFilter }
  /** Tests the joined name if an event has it. */
  | { readonly joinedName: string; readonly whole: ExactFilter; readonly apart: ExactFilter }

/** A test of one attribute, whose predicate is not compound. */
export interface ExactTest {
  readonly name: string
  readonly predicate: Predicate
  readonly values: readonly string[]
}

/** All events match. */
const ALL_EVENTS: ExactFilter = { combinator: 'and', parts: [] }

/** True if an index may have the values of the name. False for names that are never indexed. */
export const isIndexedName = (name: string): boolean =>
  name !== SOURCE && name !== 'id' && name !== 'created_at' && isStorableText(name)

/**
 * The filter for events whose times are within its bounds (`timeBounds`). `undefined` if an index cannot have its
 * matches exactly.
 */
export function exactFilter(where: Grouping | undefined): ExactFilter | undefined {
  if (!where) return ALL_EVENTS
  const isBounded = !isAlternative(where)
  const conditions = isBounded
    ? where.conditions.filter((condition) => !setsTimeBound(condition))
    : where.conditions
  const nested = isBounded ? exactFilter : withoutBounds
  return combine(
    [...conditions.map(exactCondition), ...where.groupings.map(nested)],
    where.combinator,
  )
}

/** Not all events are within time bounds that only one of several alternatives sets. */
const withoutBounds = ({ combinator, conditions, groupings }: Grouping): ExactFilter | undefined =>
  combine([...conditions.map(exactCondition), ...groupings.map(withoutBounds)], combinator)

function combine(
  parts: readonly (ExactFilter | undefined)[],
  combinator: Combinator,
): ExactFilter | undefined {
  const known = parts.filter((part) => part !== undefined)
  if (known.length < parts.length) return undefined
  // Without its time bounds, nothing may be left of a conjunction of one member.
  if (known.length === 0) return ALL_EVENTS
  return known.length === 1 ? known[0] : { combinator, parts: known }
}

function exactCondition(condition: Condition): ExactFilter | undefined {
  const { attributes, combinator, joinedName, concealed } = condition
  // The index has all attributes.
  if (concealed) return undefined
  const apart = combine(
    attributes.map((name) => exactTest(name, condition)),
    combinator,
  )
  if (joinedName === undefined || !apart) return apart
  const whole = exactTest(joinedName, condition)
  return whole && { joinedName, whole, apart }
}

/** No index has the ids. */
const exactAnyText = (text: string, { test, negated }: Predicate): ExactFilter | undefined =>
  test !== 'cont' || isWholeId(text) ? undefined : { anyText: text, negated }

function exactTest(name: string, condition: Condition): ExactFilter | undefined {
  const { values } = condition
  const predicate = predicateOf(condition.predicate)
  if (!isIndexedName(name) || !values.every(isStorableText)) return undefined
  const testOf = (some: readonly string[]): ExactFilter | undefined =>
    name === ANY_TEXT ? exactAnyText(some[0]!, predicate) : { name, predicate, values: some }
  const passing = predicate.compound
    ? combine(
        values.map((value) => testOf([value])),
        predicate.compound === 'any' ? 'or' : 'and',
      )
    : testOf(values)
  const isEvery = condition.everyValue && !predicate.negated && !isOwnField(name)
  const isOfValues = predicate.test !== 'null' && predicate.test !== 'blank' && name !== ANY_TEXT
  return isEvery && isOfValues && passing ? { oneValueOf: name, passing } : passing
}

import { type Condition, type Grouping, isAlternative } from '../../../src/filter/ast.js'
import { readsValues } from '../../../src/filter/evaluate.js'
import { pushDownFilter } from '../../../src/store-kit/pushdown.js'
import { isTextTest, predicateOf } from '../../../src/filter/predicates.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import { isStorableText } from '../../../src/event/json-copy.js'
import { isOwnField } from '../../../src/event/own-fields.js'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import { lengthOf, MAX_SQL_LENGTH, pushDownOwnField } from './pushdown-event.js'
import { textPattern } from './sql.js'

/** A filter in two parts; an event matches if both do. */
export interface SplitFilter {
  /** True for the rows of matching events only. */
  readonly exact: Sql | undefined
  /** The part of the filter that only the compiled predicate can test. */
  readonly rest: Grouping | undefined
}

/** True if SQL can test the field exactly as the predicate does. */
function isExactField(field: string, { predicate, values }: Condition): boolean {
  const { test } = predicateOf(predicate)
  // No column holds the id.
  if (!isOwnField(field) || field === 'id') return false
  if (field === 'created_at')
    return readsValues(test) && values.every((value) => parseTimestamp(value) !== undefined)
  if (field === 'system' || !isTextTest(test)) return true
  return values.every((value) => textPattern(test, value).isExact)
}

function isExactCondition(condition: Condition): boolean {
  const { attributes, joinedName, predicate, values } = condition
  if (joinedName !== undefined || !values.every(isStorableText)) return false
  // A compound test of no values has no SQL.
  if (predicateOf(predicate).compound && values.length === 0) return false
  return attributes.every((attribute) => isExactField(attribute, condition))
}

const isExactGrouping = ({ conditions, groupings }: Grouping): boolean =>
  conditions.every(isExactCondition) && groupings.every(isExactGrouping)

type Members = Pick<Grouping, 'conditions' | 'groupings'>

/** The conditions and groupings that must all hold; nested conjunctions are flattened. */
function conjunctsOf(where: Grouping): Members {
  if (isAlternative(where)) return { conditions: [], groupings: [where] }
  const inner = where.groupings.map(conjunctsOf)
  return {
    conditions: [...where.conditions, ...inner.flatMap(({ conditions }) => conditions)],
    groupings: inner.flatMap(({ groupings }) => groupings),
  }
}

const allHold = ({ conditions, groupings }: Members): Grouping | undefined =>
  conditions.length + groupings.length > 0
    ? { combinator: 'and', conditions, groupings }
    : undefined

const exactSql = (where: Grouping): Sql | undefined =>
  // The id, which needs the table of foreign ids, is never exact.
  pushDownFilter(where, (name, predicate, values) =>
    isOwnField(name) ? pushDownOwnField(name, predicate, values, '') : undefined,
  )

/** Splits a filter by whether the columns of events can test it exactly. */
export function splitFilter(where: Grouping | undefined): SplitFilter {
  if (!where) return { exact: undefined, rest: undefined }
  const { conditions, groupings } = conjunctsOf(where)
  const exactPart = allHold({
    conditions: conditions.filter(isExactCondition),
    groupings: groupings.filter(isExactGrouping),
  })
  const exact = exactPart && exactSql(exactPart)
  if (!exact || lengthOf(exact) > MAX_SQL_LENGTH) return { exact: undefined, rest: where }
  const rest = allHold({
    conditions: conditions.filter((condition) => !isExactCondition(condition)),
    groupings: groupings.filter((grouping) => !isExactGrouping(grouping)),
  })
  return { exact, rest }
}

import { ANY_TEXT, isOwnField, type OwnField, SOURCE } from '../../../src/event/own-fields.js'
import { isWholeId } from '../../../src/filter/evaluate.js'
import { parseEventId } from '../../../src/event/event-id.js'
import { SEALED_DATA } from '../../../src/event/searched.js'
import type { Grouping } from '../../../src/filter/ast.js'
import { type PushDownAttribute, pushDownFilter } from '../../../src/store-kit/pushdown.js'
import type { Predicate } from '../../../src/filter/predicates.js'
import { OPERATORS, orSql, type Sql, sql } from '../../../src/store-kit/sql.js'
import { parseTimeBound } from '../../../src/event/timestamp.js'
import { pushDownColumns } from './pushdown-column.js'
import { pushDownByPath } from './pushdown-path.js'
import { hasKey, hasKeyAndText, hasValue, passesAtKey } from './pushdown-text.js'
import { allOf, jsonTextPattern } from './sql.js'

/** True if the predicate asks for attributes without a value, which may have no key. */
const isAbsence = ({ test, negated }: Predicate): boolean =>
  !negated && (test === 'null' || test === 'blank')

/** Ids have no column: tests the times that ids contain, or that `foreignIds` has for them. */
function pushDownId(
  { test, negated }: Predicate,
  values: readonly string[],
  foreignIds: string,
): Sql | undefined {
  return negated || (test !== 'eq' && test !== 'in') ? undefined : idIsAmong(values, foreignIds)
}

function idIsAmong(values: readonly string[], foreignIds: string): Sql {
  const times = values.flatMap((id) => parseEventId(id)?.time ?? [])
  return sql(
    `created_at = ANY (?::bigint[] || ARRAY(SELECT created_at FROM ${foreignIds} WHERE id = ANY (?::text[])))`,
    times,
    values,
  )
}

function pushDownTime({ test, negated }: Predicate, values: readonly string[]): Sql | undefined {
  const times = values.map(parseTimeBound).filter((time) => time !== undefined)
  if (times.length < values.length) return undefined
  const [first = 0] = times
  switch (test) {
    case 'eq':
    case 'in':
      return sql(
        `created_at ${negated ? '<> ALL' : '= ANY'} (?::bigint[])`,
        times.filter(Number.isInteger),
      )
    // Times of events are whole microseconds; the bound may lie between two.
    case 'lt':
    case 'gteq':
      return sql(`created_at ${OPERATORS[test]} ?::bigint`, Math.ceil(first))
    case 'lteq':
    case 'gt':
      return sql(`created_at ${OPERATORS[test]} ?::bigint`, Math.floor(first))
    default:
      return undefined
  }
}

const pushDownColumn = pushDownColumns((name) => ({
  name,
  type: name === 'system' ? 'boolean' : 'string',
}))

/** Like {@link pushDownEvents}, for one own field. */
function pushDownOwnField(
  field: OwnField,
  predicate: Predicate,
  values: readonly string[],
  foreignIds: string,
): Sql | undefined {
  if (field === 'id') return pushDownId(predicate, values, foreignIds)
  if (field === 'created_at') return pushDownTime(predicate, values)
  return pushDownColumn(field, predicate, values)
}

// A path compares each value of an attribute with each of these.
const MAX_COMPARED = 100

/** SQL that searches the JSON text of the attributes. */
const textTest: PushDownAttribute = (name, predicate, values) =>
  isAbsence(predicate)
    ? undefined
    : allOf(hasValue(predicate, values), hasKeyAndText(name, predicate, values))

/** CASE keeps an order. The planner would assume the same cost for parsing JSON as for a search, and orders conditions by cost. */
const when = (condition: Sql, then: Sql, otherwise: string): Sql =>
  sql(
    `CASE WHEN ${condition.text} THEN ${then.text} ELSE ${otherwise} END`,
    ...condition.params,
    ...then.params,
  )

/** Tests of the text, then of the value, which parses the JSON. The tests that the text has a value stand alone, so that the planner puts these tests of all conditions first. */
function pushDownAttribute(
  name: string,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const byPath = values.length > MAX_COMPARED ? undefined : pushDownByPath(name, predicate, values)
  if (!byPath) return textTest(name, predicate, values)
  if (isAbsence(predicate)) return when(hasKey(name), byPath, 'TRUE')
  const passes = passesAtKey(name, predicate, values, byPath)
  return allOf(
    hasValue(predicate, values),
    when(hasKeyAndText(name, predicate, values), passes, 'FALSE'),
  )
}

/** The source in its column, or an attribute of the same name. What must hold for both is left to the predicate. */
function pushDownSource(
  predicate: Predicate,
  values: readonly string[],
  ofAttribute: PushDownAttribute,
): Sql | undefined {
  const { test, negated } = predicate
  if (negated || test === 'null' || test === 'blank') return undefined
  const column = pushDownColumn(SOURCE, predicate, values)
  const attribute = ofAttribute(SOURCE, predicate, values)
  return column && attribute && orSql([column, attribute])
}

/** Texts are found in the JSON text of the attributes and in the columns; negated tests are left to the predicate. */
function pushDownAnyText(
  predicate: Predicate,
  values: readonly string[],
  foreignIds: string,
): Sql | undefined {
  const { test, negated } = predicate
  const [text = ''] = values
  if (test !== 'cont' || negated) return undefined
  const found = jsonTextPattern(test, text)
  if (found === undefined) return undefined
  const columns = ['type', 'username', SOURCE].map((name) =>
    pushDownColumn(name, predicate, values)!,
  )
  const id = isWholeId(text) ? [idIsAmong([text.toLowerCase()], foreignIds)] : []
  return orSql([sql('attributes::text COLLATE "C" ~ ?', found), ...columns, ...id])
}

// Longer SQL costs the server more than it saves.
const MAX_SQL_LENGTH = 100_000

const isText = (param: unknown): param is string => typeof param === 'string'

const lengthOf = ({ text, params }: Sql): number =>
  params.filter(isText).reduce((sum, param) => sum + param.length, text.length)

/** Pushes conditions down until the SQL is too long; the predicate tests the rest. */
function pushDownWithinLength(
  where: Grouping | undefined,
  pushDown: PushDownAttribute,
): Sql | undefined {
  let length = 0
  return pushDownFilter(where, (name, predicate, values) => {
    const pushed = length < MAX_SQL_LENGTH ? pushDown(name, predicate, values) : undefined
    if (pushed) length += lengthOf(pushed)
    return length < MAX_SQL_LENGTH ? pushed : undefined
  })
}

/**
 * The part of the filter that SQL can test. It passes every matching event, and possibly others, so the
 * compiled predicate has to follow. `foreignIds` is the table of ids that do not contain the time.
 */
export function pushDownEvents(where: Grouping | undefined, foreignIds: string): Sql | undefined {
  const pushDownAll = (ofAttribute: PushDownAttribute): Sql | undefined =>
    pushDownWithinLength(where, (name, predicate, values) => {
      if (name === ANY_TEXT) return pushDownAnyText(predicate, values, foreignIds)
      // A path would find ciphertexts.
      if (name === SEALED_DATA) return undefined
      if (name === SOURCE) return pushDownSource(predicate, values, ofAttribute)
      return isOwnField(name)
        ? pushDownOwnField(name, predicate, values, foreignIds)
        : ofAttribute(name, predicate, values)
    })
  return pushDownAll(pushDownAttribute) ?? pushDownAll(textTest)
}

import { ANY_TEXT, isOwnField, type OwnField, SOURCE } from '../../../src/event/own-fields.js'
import { isWholeId } from '../../../src/filter/evaluate.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { Grouping } from '../../../src/filter/ast.js'
import { type PushDownAttribute, pushDownFilter } from '../../../src/store-kit/pushdown.js'
import { isTextTest, type Predicate } from '../../../src/filter/predicates.js'
import { andSql, OPERATORS, orSql, type Sql, sql } from '../../../src/store-kit/sql.js'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import { pushDownColumns } from './pushdown-column.js'
import { pushDownByPath, readings } from './pushdown-path.js'
import { jsonTextPattern } from './sql.js'
import { presenceTerms, SERVER_ATTRIBUTES, valueTerms } from '../schema/terms.js'

/** True if the predicate asks for attributes without a value, for which there are no terms. */
const isAbsence = ({ test, negated }: Predicate): boolean =>
  !negated && (test === 'null' || test === 'blank')

const serverAttributes: ReadonlySet<string> = new Set(SERVER_ATTRIBUTES)

/** True if the terms of events lack the values of the attribute. */
const isFilledByServer = (attribute: string): boolean => serverAttributes.has(attribute)

/** Terms of which every matching event has at least one; `undefined` if there are none. */
function termsFor(
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
): readonly number[] | undefined {
  const { test, negated } = predicate
  const isAmong = !negated && (test === 'eq' || test === 'in')
  if (isAbsence(predicate)) return undefined
  if (isFilledByServer(attribute)) return presenceTerms(attribute)
  if (isAmong) return valueTerms(attribute, values.flatMap(readings))
  if (!negated && (test === 'true' || test === 'false'))
    return valueTerms(attribute, [test === 'true'])
  return presenceTerms(attribute)
}

// `arrayoverlap` compares all pairs of terms; `= ANY` builds a hash table for a long list.
const MAX_COMPARED = 40

const hasSome = (terms: readonly number[]): Sql =>
  terms.length <= MAX_COMPARED
    ? sql('arrayoverlap(terms, ?::int4[])', terms)
    : sql('EXISTS (SELECT FROM unnest(terms) AS term WHERE term = ANY (?::int4[]))', terms)

const pushDownByTerms: PushDownAttribute = (name, predicate, values) => {
  const terms = termsFor(name, predicate, values)
  return terms && hasSome(terms)
}

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
  const times = values.map(parseTimestamp)
  if (times.includes(undefined)) return undefined
  switch (test) {
    case 'eq':
    case 'in':
      return sql(`created_at ${negated ? '<> ALL' : '= ANY'} (?::bigint[])`, times)
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq':
      return sql(`created_at ${OPERATORS[test]} ?::bigint`, times[0])
    default:
      return undefined
  }
}

const pushDownColumn = pushDownColumns((name) => ({
  name,
  type: name === 'system' ? 'boolean' : 'string',
}))

/** Like {@link pushDownEvents}, for one own field. */
export function pushDownOwnField(
  field: OwnField,
  predicate: Predicate,
  values: readonly string[],
  foreignIds: string,
): Sql | undefined {
  if (field === 'id') return pushDownId(predicate, values, foreignIds)
  if (field === 'created_at') return pushDownTime(predicate, values)
  return pushDownColumn(field, predicate, values)
}

/** True if the terms alone decide, apart from collisions of hashes. */
const isDecidedByTerms = (name: string, { test, negated }: Predicate): boolean => {
  if (test === 'null') return negated
  return !negated && !isFilledByServer(name) && ['eq', 'in', 'true', 'false'].includes(test)
}

/** Tests of the value after that of the terms, cheapest first. */
function valueTests(name: string, predicate: Predicate, values: readonly string[]): Sql[] {
  const { test, negated } = predicate
  if (isDecidedByTerms(name, predicate)) return []
  const found = isTextTest(test) && !negated ? jsonTextPattern(test, values[0]!) : undefined
  const inText = found === undefined ? undefined : sql('attributes::text ~ ?', found)
  return [inText, pushDownByPath(name, predicate, values)].filter((part) => part !== undefined)
}

function pushDownAttribute(
  name: string,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const terms = termsFor(name, predicate, values)
  const tests = valueTests(name, predicate, values)
  if (terms) return andSql([hasSome(terms), ...tests])
  const isAbsent = sql('NOT arrayoverlap(terms, ?::int4[])', presenceTerms(name))
  return tests.length > 0 ? orSql([isAbsent, ...tests]) : undefined
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
  return orSql([sql('attributes::text ~ ?', found), ...columns, ...id])
}

// Longer SQL costs the server more than it saves.
export const MAX_SQL_LENGTH = 100_000

const isText = (param: unknown): param is string => typeof param === 'string'

export const lengthOf = ({ text, params }: Sql): number =>
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
      if (name === SOURCE) return pushDownSource(predicate, values, ofAttribute)
      return isOwnField(name)
        ? pushDownOwnField(name, predicate, values, foreignIds)
        : ofAttribute(name, predicate, values)
    })
  return pushDownAll(pushDownAttribute) ?? pushDownAll(pushDownByTerms)
}

import { isOwnField, type OwnField } from '../../../src/event/own-fields.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { Grouping } from '../../../src/filter/ast.js'
import { type PushDownAttribute, pushDownFilter } from '../../../src/store-kit/pushdown.js'
import { isTextTest, type Predicate } from '../../../src/filter/predicates.js'
import { andSql, OPERATORS, orSql, type Sql, sql } from '../../../src/store-kit/sql.js'
import { parseTimestamp } from '../../../src/event/timestamp.js'
import { narrowColumns } from './pushdown-column.js'
import { narrowByPath, readings } from './pushdown-path.js'
import { jsonTextPattern } from './sql.js'
import { ownTerms, presenceTerms, SERVER_ATTRIBUTES, valueTerms } from '../schema/terms.js'

/** That an attribute has no value: what an event lacks, it has no term for. */
const isAbsence = ({ test, negated }: Predicate): boolean =>
  !negated && (test === 'null' || test === 'blank')

const serverAttributes: ReadonlySet<string> = new Set(SERVER_ATTRIBUTES)

/** True where events may have values that their terms do not tell. */
const isOfServer = (attribute: string): boolean => serverAttributes.has(attribute)

/** The terms of which every matching event has one; `undefined` where there are no such. */
function termsFor(
  attribute: string,
  predicate: Predicate,
  values: readonly string[],
): readonly number[] | undefined {
  const { test, negated } = predicate
  const isAmong = !negated && (test === 'eq' || test === 'in')
  if (isOwnField(attribute)) {
    const hasTerms = attribute === 'type' || attribute === 'username'
    return isAmong && hasTerms ? ownTerms(attribute, values) : undefined
  }
  if (isAbsence(predicate)) return undefined
  if (isOfServer(attribute)) return presenceTerms(attribute)
  if (isAmong) return valueTerms(attribute, values.flatMap(readings))
  if (!negated && (test === 'true' || test === 'false'))
    return valueTerms(attribute, [test === 'true'])
  return presenceTerms(attribute)
}

// `arrayoverlap` compares each term to each, `= ANY` makes a hash table of a long list.
const MAX_COMPARED = 40

const hasSome = (terms: readonly number[]): Sql =>
  terms.length <= MAX_COMPARED
    ? sql('arrayoverlap(terms, ?::int4[])', terms)
    : sql('EXISTS (SELECT FROM unnest(terms) AS term WHERE term = ANY (?::int4[]))', terms)

const narrowByTerms: PushDownAttribute = (name, predicate, values) => {
  const terms = termsFor(name, predicate, values)
  return terms && hasSome(terms)
}

/** No column holds it: the times that ids carry, or that the side table knows. */
function narrowId(
  { test, negated }: Predicate,
  values: readonly string[],
  foreignIds: string,
): Sql | undefined {
  if (negated || (test !== 'eq' && test !== 'in')) return undefined
  const times = values.flatMap((id) => parseEventId(id)?.time ?? [])
  return sql(
    `created_at = ANY (?::bigint[] || ARRAY(SELECT created_at FROM ${foreignIds} WHERE id = ANY (?::text[])))`,
    times,
    values,
  )
}

function narrowTime({ test, negated }: Predicate, values: readonly string[]): Sql | undefined {
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

const narrowColumn = narrowColumns((name) => ({
  name,
  type: name === 'system' ? 'boolean' : 'string',
}))

/** As {@link narrowEvents}, of one own field. */
export function narrowOwn(
  field: OwnField,
  predicate: Predicate,
  values: readonly string[],
  foreignIds: string,
): Sql | undefined {
  if (field === 'id') return narrowId(predicate, values, foreignIds)
  if (field === 'created_at') return narrowTime(predicate, values)
  return narrowColumn(field, predicate, values)
}

/** True where the terms say all that there is to say. */
const isByTerms = (name: string, { test, negated }: Predicate): boolean => {
  if (test === 'null') return negated
  return !negated && !isOfServer(name) && ['eq', 'in', 'true', 'false'].includes(test)
}

/** Tests of the value behind that of the terms, in the order of what they cost. */
function valueTests(name: string, predicate: Predicate, values: readonly string[]): Sql[] {
  const { test, negated } = predicate
  if (isByTerms(name, predicate)) return []
  const found = isTextTest(test) && !negated ? jsonTextPattern(test, values[0]!) : undefined
  const inText = found === undefined ? undefined : sql('attributes::text ~ ?', found)
  return [inText, narrowByPath(name, predicate, values)].filter((part) => part !== undefined)
}

function narrowAttribute(
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

// What makes the SQL longer than this costs the server more than it saves.
export const MAX_LENGTH = 100_000

const isText = (param: unknown): param is string => typeof param === 'string'

export const lengthOf = ({ text, params }: Sql): number =>
  params.filter(isText).reduce((sum, param) => sum + param.length, text.length)

/** As far as the length allows; the predicate sees to the rest. */
function narrowBriefly(where: Grouping | undefined, narrow: PushDownAttribute): Sql | undefined {
  let length = 0
  return pushDownFilter(where, (name, predicate, values) => {
    const narrowed = length < MAX_LENGTH ? narrow(name, predicate, values) : undefined
    if (narrowed) length += lengthOf(narrowed)
    return length < MAX_LENGTH ? narrowed : undefined
  })
}

/**
 * What Postgres can tell of a row without losing an event that matches, to be followed by the compiled
 * predicate. `foreignIds` is the table of ids that carry no time.
 */
export function narrowEvents(where: Grouping | undefined, foreignIds: string): Sql | undefined {
  const narrowRows = (ofAttribute: PushDownAttribute): Sql | undefined =>
    narrowBriefly(where, (name, predicate, values) =>
      isOwnField(name)
        ? narrowOwn(name, predicate, values, foreignIds)
        : ofAttribute(name, predicate, values),
    )
  return narrowRows(narrowAttribute) ?? narrowRows(narrowByTerms)
}

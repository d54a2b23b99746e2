import type { OwnField, SOURCE } from '../../../src/event/own-fields.js'
import { parseEventId } from '../../../src/event/event-id.js'
import type { Sql } from '../../../src/store-kit/sql.js'
import type { Predicate } from '../../../src/filter/predicates.js'
import { readBoolean } from '../../../src/filter/values.js'
import { parseTimeBound } from '../../../src/event/timestamp.js'
import { inList, like, notLike, OPERATORS, orSql, sql } from './sql.js'

/** Pushes a predicate down to the column of an own field; `undefined` if SQL cannot test it. */
export function pushDownOwnField(
  field: OwnField | typeof SOURCE,
  predicate: Predicate,
  values: readonly string[],
): Sql | undefined {
  const { test, negated } = predicate
  const not = negated ? 'NOT' : ''
  const [first = ''] = values
  if (field === 'id') {
    if (negated || (test !== 'eq' && test !== 'in')) return undefined
    // Ids have no column: tests the times that ids contain, or that `daybook_foreign_ids` has for them.
    const times = values.flatMap((id) => parseEventId(id)?.time ?? [])
    const foreign = inList(sql('id'), values)
    return orSql([
      inList(sql('created_at'), times),
      sql(
        `created_at IN (SELECT created_at FROM daybook_foreign_ids WHERE ${foreign.text})`,
        ...foreign.params,
      ),
    ])
  }
  const column = sql(field)
  switch (test) {
    case 'eq':
    case 'in':
      return inList(
        column,
        values.map((value) => ownValue(field, value)),
        not,
      )
    case 'lt':
    case 'lteq':
    case 'gt':
    case 'gteq':
      return sql(`${field} ${OPERATORS[test]} ?`, ownValue(field, first))
    case 'true':
    case 'false':
      if (field === 'system') return sql(`system = ?`, Number((test === 'true') !== negated))
      return negated ? sql(`${field} IS NOT NULL`) : sql('FALSE')
    case 'null':
      return sql(`${field} IS ${not} NULL`)
    case 'blank':
      return negated ? sql(`${field} <> ''`) : sql(`coalesce(${field}, '') = ''`)
    case 'cont':
    case 'start':
    case 'end':
    case 'matches':
      if (field === 'created_at') return undefined
      // The test applies to text only, also when negated.
      if (field === 'system') return sql('FALSE')
      return negated ? notLike(column, test, first) : like(column, test, first)
  }
}

function ownValue(field: OwnField | typeof SOURCE, value: string): unknown {
  if (field === 'created_at') return parseTimeBound(value)
  return field === 'system' ? Number(readBoolean(value)) : value
}

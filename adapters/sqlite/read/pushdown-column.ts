import type { PushDownAttribute } from '../../../src/store-kit/pushdown.js'
import { isTextTest } from '../../../src/filter/predicates.js'
import { orSql, sql } from '../../../src/store-kit/sql.js'
import type { ColumnOf } from '../../../src/lists/table.js'
import { pushDownPlace } from './pushdown-place.js'
import { inList } from './sql.js'

/** The storage classes (https://www.sqlite.org/datatype3.html) in which SQL can test values of a type. */
const STORED = {
  string: ['text'],
  // Text is read as lower case, so SQL cannot compare it.
  uuid: [],
  number: ['integer', 'real'],
  boolean: ['integer'],
  // Text in many forms, or a number: SQL can only test whether there is a value.
  timestamp: [],
} as const

/**
 * Pushes predicates down to columns that hold declared attributes. A column may hold values of any type:
 * values of other storage classes pass.
 */
export function pushDownColumns(columnOf: ColumnOf): PushDownAttribute {
  return (attribute, predicate, values) => {
    const column = columnOf(attribute)
    if (!column) return undefined
    const { name, type } = column
    const { test, negated } = predicate
    if (test === 'null') return sql(`${name} IS ${negated ? 'NOT' : ''} NULL`)
    if (test === 'blank') return negated ? sql(`${name} <> ''`) : sql(`coalesce(${name}, '') = ''`)
    // Without the affinity and the collation of the column.
    const bare = sql(`(+${name} COLLATE BINARY)`)
    const stored = sql(`typeof(${name})`)
    const jsonType = sql(
      `CASE ${name} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE typeof(${name}) END`,
    )
    const place = { value: bare, type: type === 'boolean' ? jsonType : stored }
    const pushdown = pushDownPlace(place, predicate, values)
    if (!pushdown) return undefined
    const passes = [inList(stored, [...STORED[type], 'null'], 'NOT'), pushdown]
    // Other integers than booleans are read as numbers, and long ones as text.
    if (type === 'boolean') passes.push(sql(`${name} NOT IN (0, 1)`))
    // LIKE and GLOB stop at U+0000, which text of the host may contain.
    if (isTextTest(test)) passes.push(sql(`instr(${name}, char(0)) > 0`))
    return orSql(passes)
  }
}

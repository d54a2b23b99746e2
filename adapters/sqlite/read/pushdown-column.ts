import type { PushDownAttribute } from '../../../src/store-kit/pushdown.js'
import { isTextTest } from '../../../src/filter/predicates.js'
import { orSql, sql } from '../../../src/store-kit/sql.js'
import type { Column } from '../../../src/lists/table.js'
import { narrowPlace } from './pushdown-place.js'
import { inList } from './sql.js'

/** The storage classes (https://www.sqlite.org/datatype3.html) of which a declared type has its values. */
const STORED = {
  string: ['text'],
  // Only in lower case does text compare as it will be read.
  uuid: [],
  number: ['integer', 'real'],
  boolean: ['integer'],
  // Text in many forms, or a number: only whether there is a value can be told.
  timestamp: [],
} as const

/**
 * What SQLite can tell of columns that hold declared attributes. A column may hold any type of value:
 * those of another storage class are let through.
 */
export function narrowColumns(columnOf: (attribute: string) => Column): PushDownAttribute {
  return (attribute, predicate, values) => {
    const { name, type } = columnOf(attribute)
    const { test, negated } = predicate
    if (test === 'null') return sql(`${name} IS ${negated ? 'NOT' : ''} NULL`)
    if (test === 'blank') return negated ? sql(`${name} <> ''`) : sql(`coalesce(${name}, '') = ''`)
    // Without the affinity and the collation that its table gives it.
    const bare = sql(`(+${name} COLLATE BINARY)`)
    const stored = sql(`typeof(${name})`)
    const jsonType = sql(
      `CASE ${name} WHEN 1 THEN 'true' WHEN 0 THEN 'false' ELSE typeof(${name}) END`,
    )
    const place = { value: bare, type: type === 'boolean' ? jsonType : stored }
    const narrowed = narrowPlace(place, predicate, values)
    if (!narrowed) return undefined
    const through = [inList(stored, [...STORED[type], 'null'], 'NOT'), narrowed]
    // LIKE and GLOB end at U+0000, which a host's text may hold.
    if (isTextTest(test)) through.push(sql(`instr(${name}, char(0)) > 0`))
    return orSql(through)
  }
}

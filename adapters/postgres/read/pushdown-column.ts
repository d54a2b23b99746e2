import type { AttributeType } from '../../../src/filter/attributes.js'
import type { PushDownAttribute } from '../../../src/store-kit/pushdown.js'
import type { Predicate, TestName, TextTest } from '../../../src/filter/predicates.js'
import { andSql, OPERATORS, orSql, type Sql, sql } from '../../../src/store-kit/sql.js'
import { type NearestDouble, readBoolean, readNearest } from '../../../src/filter/values.js'
import type { ColumnOf, TypedColumn } from '../../../src/lists/table.js'
import { parseTimeBound } from '../../../src/event/timestamp.js'
import { textPattern } from './sql.js'

/** SQL for a test of a column's value. */
interface Verdict {
  /** True if the value passes, and possibly for others. */
  readonly mayPass: Sql
  /** True only if the value passes; `undefined` if SQL cannot be certain. */
  readonly passes?: Sql
}

type OrderTest = keyof typeof OPERATORS

/** How the values of a declared type are compared. */
interface ColumnType {
  readonly equals: (column: string, texts: readonly string[]) => Verdict
  readonly compares: (column: string, test: OrderTest, text: string) => Verdict
  readonly matches: (column: string, test: TextTest, text: string) => Verdict | undefined
}

const certain = (test: Sql): Verdict => ({ mayPass: test, passes: test })
const NEVER = certain(sql('FALSE'))

/** For columns whose values compare in Postgres as in JavaScript. */
function comparable(
  type: string,
  valueOf: (column: string) => string,
  read: (text: string) => unknown,
): Pick<ColumnType, 'equals' | 'compares'> {
  return {
    equals: (column, texts) =>
      certain(sql(`${valueOf(column)} = ANY (?::${type}[])`, texts.map(read))),
    compares: (column, test, text) =>
      certain(sql(`${valueOf(column)} ${OPERATORS[test]} ?::${type}`, read(text))),
  }
}

// A `real` prints seven digits, but compares as a double with more.
const IMPRECISION = 1e-6
const EXACT = 2 ** 24

const isExact = ({ double, side }: NearestDouble): boolean =>
  side === 0 && Number.isInteger(double) && Math.abs(double) <= EXACT

function widened(number: NearestDouble, sign: 1 | -1): string {
  const { double } = number
  if (isExact(number)) return String(double)
  return String(double + sign * (Math.abs(double) * IMPRECISION + Number.MIN_VALUE))
}

/** A bound is a `numeric`: the server compares it exactly with integers and `numeric`, and as a double with others. */
function numeric(
  column: string,
  texts: readonly string[],
  test: (number: NearestDouble) => Sql,
): Verdict {
  const numbers = texts.map((text) => readNearest(text)!)
  // A `numeric` can be beyond all doubles.
  if (!numbers.every(({ double }) => Number.isFinite(double)))
    return { mayPass: sql(`${column} IS NOT NULL`) }
  const any = orSql(numbers.map(test))
  return numbers.every(isExact) ? certain(any) : { mayPass: any }
}

/** For text that is compared by code point. */
function textual(valueOf: (column: string) => string): ColumnType {
  const byCodePoint = (column: string): string => `${valueOf(column)} COLLATE "C"`
  return {
    ...comparable('text', byCodePoint, (text) => text),
    equals: (column, texts) => ({
      // Without COLLATE, so that an index can be used: equal bytes are equal in any collation.
      mayPass: sql(`${valueOf(column)} = ANY (?::text[])`, texts),
      passes: sql(`${byCodePoint(column)} = ANY (?::text[])`, texts),
    }),
    matches(column, test, text) {
      const { regex, isExact } = textPattern(test, text)
      const matches = sql(`${byCodePoint(column)} ~ ?`, regex)
      return isExact ? certain(matches) : { mayPass: matches }
    },
  }
}

const TYPES: Readonly<Record<AttributeType, ColumnType>> = {
  string: textual((column) => `${column}::text`),
  uuid: textual((column) => `lower(${column}::text COLLATE "C")`),
  number: {
    equals: (column, texts) =>
      numeric(column, texts, (number) =>
        sql(`${column} BETWEEN ?::numeric AND ?::numeric`, widened(number, -1), widened(number, 1)),
      ),
    compares: (column, test, text) =>
      numeric(column, [text], (number) =>
        sql(
          `${column} ${OPERATORS[test]} ?::numeric`,
          widened(number, OPERATORS[test].startsWith('<') ? 1 : -1),
        ),
      ),
    matches: () => undefined,
  },
  boolean: {
    ...comparable('boolean', (column) => column, readBoolean),
    matches: () => undefined,
  },
  timestamp: {
    // The same in any time zone for `timestamp` (read as UTC), `timestamptz` and `date`.
    ...comparable('numeric', (column) => `extract(epoch FROM ${column}) * 1000000`, parseTimeBound),
    matches: (column) => ({ mayPass: sql(`${column} IS NOT NULL`) }),
  },
}

/** `undefined` if neither the test nor its negation holds for values of the type. */
function verdictOf(
  { name, type }: TypedColumn,
  test: Exclude<TestName, 'null' | 'blank'>,
  values: readonly string[],
): Verdict | undefined {
  const { equals, compares, matches } = TYPES[type]
  const [first = ''] = values
  switch (test) {
    case 'eq':
    case 'in':
      return equals(name, values)
    case 'true':
    case 'false':
      return type === 'boolean' ? certain(sql(`${name} = ${test}`)) : NEVER
    case 'cont':
    case 'start':
    case 'end':
    case 'matches':
      return matches(name, test, first)
    default:
      return compares(name, test, first)
  }
}

function pushDownColumn(column: TypedColumn, predicate: Predicate, values: readonly string[]): Sql {
  const { test, negated } = predicate
  const { name, type } = column
  const isPresent = sql(`${name} IS NOT NULL`)
  if (test === 'null' || test === 'blank') {
    if (test === 'blank' && (type === 'string' || type === 'uuid'))
      return sql(`coalesce(${name}::text, '') ${negated ? '<>' : '='} ''`)
    return negated ? isPresent : sql(`${name} IS NULL`)
  }
  const verdict = verdictOf(column, test, values)
  if (!verdict) return NEVER.mayPass
  const { mayPass, passes } = verdict
  if (!negated) return mayPass
  return passes ? andSql([isPresent, sql(`NOT (${passes.text})`, ...passes.params)]) : isPresent
}

/** Pushes predicates down to columns that hold declared attributes. */
export function pushDownColumns(columnOf: ColumnOf): PushDownAttribute {
  return (attribute, predicate, values) => {
    const column = columnOf(attribute)
    return column && pushDownColumn(column, predicate, values)
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../errors.js'
import type { EventQuery, Grouping } from '../filter/ast.js'
import { type AttributeType, isInObject } from '../filter/attributes.js'
import { type AttributeTypes, declare } from '../filter/attribute-types.js'
import { andSql, quoteName, type Sql, sql } from '../store-kit/sql.js'
import type { ListTable } from './list-source.js'
import { checkNamed, type OptionNames } from '../options.js'
import { parseWithTexts } from '../event/exact-numbers.js'
import { isError } from '../event/realm.js'

/** The table of a list. */
export interface TableOptions {
  /** The name of a table or view. */
  readonly table: string
  /** The schema, or attached database. @default the first one that has a table of this name */
  readonly schema?: string
  /**
   * The column for each attribute whose column has a different name. The column of `id` must be
   * unique and not null, and should have an index, because rows are read in slices by id.
   */
  readonly columns?: Readonly<Record<string, string>>
}

export const TABLE_OPTIONS: OptionNames<TableOptions> = { table: true, schema: true, columns: true }

/** A row, by names of attributes. */
export type TableRow = Readonly<Record<string, unknown>>

/** The column of an attribute, as quoted SQL, and the type of the attribute. Nested data has no type. */
export interface Column {
  readonly name: string
  readonly type: AttributeType | undefined
}

/** A column whose values have a declared type, which SQL can test. */
export interface TypedColumn extends Column {
  readonly type: AttributeType
}

/** `undefined` for attributes that have no typed column. */
export type ColumnOf = (attribute: string) => TypedColumn | undefined

/** The SQL of one kind of database. */
export interface TableDialect {
  /** A condition that accepts every row that matches the filter. */
  pushDown(where: Grouping | undefined, columnOf: ColumnOf): Sql | undefined
  /** An expression for the column's value, for {@link TableDialect.read}. */
  select(column: Column): string
  /** An expression for the id, for the start of the next slice. */
  selectKey(column: string): string
  read(value: unknown): unknown
  all(query: Sql): readonly object[] | Promise<readonly object[]>
}

const FIRST_SLICE = 100
const MAX_SLICE = 1000

/** `k` is the key; `c0`, `c1` … are the attributes. */
type SelectedRow = Readonly<Record<string, unknown>>

/** A table as the source of a list. Reads rows by id, in slices, that may match the filter. */
export function databaseTable(options: TableOptions, dialect: TableDialect): ListTable<TableRow> {
  checkNamed(options.columns, 'columns')
  for (const name of ['table', 'schema'] as const)
    if (options[name] === '' || (name === 'table' && typeof options.table !== 'string'))
      throw new AuditLogError('INVALID_OPTION', `${name} must be the name of a ${name}`)
  return { rows: (query, attributes) => readRows(options, dialect, query, attributes) }
}

async function* readRows(
  { table, schema, columns = {} }: TableOptions,
  dialect: TableDialect,
  { where }: EventQuery,
  attributes: AttributeTypes,
): AsyncGenerator<TableRow> {
  const declaration = declare(attributes)
  const { types, objects = new Set() } = declaration
  // The prefix matters: SQLite reads an unknown quoted name without it as text.
  const columnName = (attribute: string): string =>
    `t.${quoteName(Object.hasOwn(columns, attribute) ? columns[attribute]! : attribute)}`
  // A path into nested data has a column only if the host names one.
  const scalars = new Map(
    Array.from(types)
      .filter(([name]) => Object.hasOwn(columns, name) || !isInObject(declaration, name))
      .map(([name, type]) => [name, { name: columnName(name), type }]),
  )
  const selectedColumns = new Map<string, Column>(scalars)
  for (const name of objects) selectedColumns.set(name, { name: columnName(name), type: undefined })
  const columnOf: ColumnOf = (attribute) => scalars.get(attribute)
  const names = [...selectedColumns.keys()]
  const selected = [...selectedColumns.values()].map(
    (column, i) => `${dialect.select(column)} AS c${i}`,
  )
  const key = columnName('id')
  const read = (name: string, value: unknown): unknown =>
    objects.has(name) ? parsed(dialect.read(value)) : dialect.read(value)
  const from = [schema, table].filter((name) => name !== undefined).map(quoteName)
  const select = `SELECT ${dialect.selectKey(key)} AS k, ${selected.join(', ')} FROM ${from.join('.')} AS t`
  const pushedDown = dialect.pushDown(where, columnOf)

  let last: unknown
  for (let size = FIRST_SLICE; ; size = Math.min(size * 4, MAX_SLICE)) {
    const after = last === undefined ? sql('1 = 1') : sql(`${key} > ?`, last)
    const filter = pushedDown ? andSql([after, pushedDown]) : after
    const slice = `${select} WHERE ${filter.text} ORDER BY ${key} LIMIT ${size}`
    const rows = await ask(table, dialect, sql(slice, ...filter.params))
    for (const row of rows)
      yield Object.fromEntries(names.map((name, i) => [name, read(name, row[`c${i}`])]))
    if (rows.length < size) return
    last = rows.at(-1)!['k']
    await nextTurn()
  }
}

/** SQLite, and a text column on Postgres, hold nested data as JSON text. */
function parsed(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return parseWithTexts(value)
  } catch {
    return value
  }
}

async function ask(
  table: string,
  dialect: TableDialect,
  query: Sql,
): Promise<readonly SelectedRow[]> {
  try {
    return (await dialect.all(query)) as readonly SelectedRow[]
  } catch (cause) {
    const reason = isError(cause) ? cause.message : String(cause)
    const message = `the table ${table} cannot be read: ${reason}`
    throw new AuditLogError('STORE_FAILED', message, { cause })
  }
}

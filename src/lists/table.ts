import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError } from '../errors.js'
import type { EventQuery, Grouping } from '../filter/ast.js'
import type { AttributeType } from '../filter/attributes.js'
import { type AttributeTypes, declare } from '../filter/declared.js'
import { andSql, quoteName, type Sql, sql } from '../store-kit/sql.js'
import type { ListTable } from './list-source.js'

/** Which table of a database a list is read from. */
export interface TableOptions {
  /** The name of a table or view. */
  readonly table: string
  /** The schema, or attached database, that has it. @default the first that has one of the name */
  readonly schema?: string
  /**
   * The column of an attribute, where its name is another. That of `id` must be unique and not
   * null; an index on it lets the rows be read in slices.
   */
  readonly columns?: Readonly<Record<string, string>>
}

/** A row by the names of the attributes. */
export type TableRow = Readonly<Record<string, unknown>>

/** The column that holds an attribute, as SQL names it, and the attribute's type. */
export interface Column {
  readonly name: string
  readonly type: AttributeType
}

/** How a database is asked. */
export interface TableDialect {
  /** What of a filter the database can tell, without losing a row. */
  pushDown(where: Grouping | undefined, columnOf: (attribute: string) => Column): Sql | undefined
  /** An expression for the column's value as {@link TableDialect.read} takes it. */
  select(column: Column): string
  /** An expression for the id by which the next slice is found. */
  selectKey(column: string): string
  read(value: unknown): unknown
  all(query: Sql): readonly object[] | Promise<readonly object[]>
}

const FIRST_SLICE = 100
const MAX_SLICE = 1000

/** `k` is the key, `c0`, `c1` … are the attributes. */
type SelectedRow = Readonly<Record<string, unknown>>

/** A table as the source of a list: its rows by id, in slices, as far as a filter lets them through. */
export function databaseTable(options: TableOptions, dialect: TableDialect): ListTable<TableRow> {
  return { rows: (query, attributes) => readRows(options, dialect, query, attributes) }
}

async function* readRows(
  { table, schema, columns = {} }: TableOptions,
  dialect: TableDialect,
  { where }: EventQuery,
  attributes: AttributeTypes,
): AsyncGenerator<TableRow> {
  const { types } = declare(attributes)
  const columnOf = (attribute: string): Column => ({
    // With the table's name before it: SQLite would take an unknown name alone for a text.
    name: `t.${quoteName(Object.hasOwn(columns, attribute) ? columns[attribute]! : attribute)}`,
    type: types.get(attribute)!,
  })
  const names = [...types.keys()]
  const selected = names.map((name, i) => `${dialect.select(columnOf(name))} AS c${i}`)
  const key = columnOf('id').name
  const from = [schema, table].filter((name) => name !== undefined).map(quoteName)
  const select = `SELECT ${dialect.selectKey(key)} AS k, ${selected.join(', ')} FROM ${from.join('.')} AS t`
  const narrowed = dialect.pushDown(where, columnOf)

  let last: unknown
  for (let size = FIRST_SLICE; ; size = Math.min(size * 4, MAX_SLICE)) {
    const after = last === undefined ? sql('1 = 1') : sql(`${key} > ?`, last)
    const filter = narrowed ? andSql([after, narrowed]) : after
    const slice = `${select} WHERE ${filter.text} ORDER BY ${key} LIMIT ${size}`
    const rows = await ask(table, dialect, sql(slice, ...filter.params))
    for (const row of rows)
      yield Object.fromEntries(names.map((name, i) => [name, dialect.read(row[`c${i}`])]))
    if (rows.length < size) return
    last = rows.at(-1)!['k']
    await nextTurn()
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
    const reason = cause instanceof Error ? cause.message : String(cause)
    const message = `the table ${table} cannot be read: ${reason}`
    throw new AuditLogError('STORE_FAILED', message, { cause })
  }
}

import type { ListTable } from '../../../src/lists/list-source.js'
import { databaseTable, type TableOptions, type TableRow } from '../../../src/lists/table.js'
import type { SqliteDatabase } from '../connection/database.js'
import { narrowColumns } from './pushdown-column.js'
import { narrowWhere } from './pushdown-where.js'

export interface SqliteTableOptions extends TableOptions {
  /** An open better-sqlite3 handle of the host's, which is read through and not changed. */
  readonly database: SqliteDatabase
}

/**
 * A table of an SQLite database as the source of a `listRoute`. Columns hold text for `string`, numbers
 * for `number`, 0 and 1 for `boolean`, ISO 8601 text or the milliseconds of `Date.now()` for `timestamp`;
 * what else SQLite lets them hold is read as the type where it can be. Rows come in the order of
 * their ids, in slices, between which the event loop gets a turn. Rejects with `STORE_FAILED`, the
 * driver's error in `cause`.
 */
export function sqliteTable({ database, ...options }: SqliteTableOptions): ListTable<TableRow> {
  return databaseTable(options, {
    pushDown: (where, columnOf) => narrowWhere(where, narrowColumns(columnOf)),
    select: ({ name }) => name,
    selectKey: (column) => column,
    read: (value) => value,
    // Integers as BigInt, so that ids keep all of their digits.
    all: ({ text, params }) =>
      database
        .prepare(text)
        .safeIntegers(true)
        .all(...params) as object[],
  })
}

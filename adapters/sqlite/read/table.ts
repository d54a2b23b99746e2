import type { ListTable } from '../../../src/lists/list-source.js'
import {
  databaseTable,
  TABLE_OPTIONS,
  type TableOptions,
  type TableRow,
} from '../../../src/lists/table.js'
import { asDatabase, type HostDatabase } from '../connection/host-handle.js'
import { pushDownEvents } from './pushdown-event.js'
import { pushDownColumns } from './pushdown-column.js'
import { type OptionNames, requireOptions } from '../../../src/options.js'

export interface SqliteTableOptions extends TableOptions {
  /** An open handle of better-sqlite3 or `node:sqlite`. The table only reads through it and does not change its settings. */
  readonly database: HostDatabase
}

const SQLITE_TABLE_OPTIONS: OptionNames<SqliteTableOptions> = { ...TABLE_OPTIONS, database: true }

/**
 * Makes a table of an SQLite database the source of a `listRoute`. Columns have text for `string`,
 * numbers for `number`, 0 and 1 for `boolean`, ISO 8601 text or milliseconds as of `Date.now()` for
 * `timestamp`; other values are converted to the type if possible. Rows are read in the order of their
 * ids, in slices between which the event loop runs. Rejects with `STORE_FAILED`, with the error of the
 * driver in `cause`.
 */
export function sqliteTable(given: SqliteTableOptions): ListTable<TableRow> {
  requireOptions(given, SQLITE_TABLE_OPTIONS, 'sqliteTable')
  const { database: handle, ...options } = given
  const database = asDatabase(handle)
  return databaseTable(options, {
    pushDown: (where, columnOf) => pushDownEvents(where, pushDownColumns(columnOf)),
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

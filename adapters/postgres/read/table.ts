import { pushDownFilter } from '../../../src/store-kit/pushdown.js'
import type { ListTable } from '../../../src/lists/list-source.js'
import { databaseTable, type TableOptions, type TableRow } from '../../../src/lists/table.js'
import type { PostgresClient } from '../connection/client.js'
import { narrowColumns } from './pushdown-column.js'
import { numbered } from './sql.js'

export interface PostgresTableOptions extends TableOptions {
  /** A pool or a client of pg. */
  readonly pool: PostgresClient
}

/**
 * A table of a Postgres database (14 or newer) as the source of a `listRoute`. A column's type must
 * fit its attribute's: any for `string` and `uuid`, which take its text; a numeric one for `number`; `boolean`;
 * for `timestamp` a `timestamptz`, a `timestamp` that holds UTC, or a `date`. Rows come in the order
 * of their ids, in slices with a query each. Rejects with `STORE_FAILED`, the driver's error in `cause`.
 */
export function postgresTable({ pool, ...options }: PostgresTableOptions): ListTable<TableRow> {
  return databaseTable(options, {
    pushDown: (where, columnOf) => pushDownFilter(where, narrowColumns(columnOf)),
    // As JSON, so that neither the type parsers that a host sets nor its time zone have a say.
    select: ({ name, type }) =>
      `to_json(${name}${type === 'string' || type === 'uuid' ? '::text' : ''})::text`,
    selectKey: (column) => `${column}::text`,
    read: (json) => (typeof json === 'string' ? JSON.parse(json) : null) as unknown,
    async all(query) {
      const { rows } = await pool.query(numbered(query), [...query.params])
      return rows as object[]
    },
  })
}

import { pushDownFilter } from '../../../src/store-kit/pushdown.js'
import type { ListTable } from '../../../src/lists/list-source.js'
import {
  databaseTable,
  TABLE_OPTIONS,
  type TableOptions,
  type TableRow,
} from '../../../src/lists/table.js'
import type { PostgresClient } from '../connection/client.js'
import { pushDownColumns } from './pushdown-column.js'
import { numbered } from './sql.js'
import { parseWithTexts } from '../../../src/event/exact-numbers.js'
import { type OptionNames, requireOptions } from '../../../src/options.js'

export interface PostgresTableOptions extends TableOptions {
  /** A pool or a client of pg. */
  readonly pool: PostgresClient
}

const POSTGRES_TABLE_OPTIONS: OptionNames<PostgresTableOptions> = { ...TABLE_OPTIONS, pool: true }

/**
 * A table of a Postgres database (14 or newer) as the source of a `listRoute`. The type of a column must
 * fit its attribute: any type for `string` and `uuid`, which use its text; a numeric type for `number`;
 * `boolean`; and for `timestamp` a `timestamptz`, a `timestamp` in UTC or a `date`. Rows are read in the
 * order of their ids, in batches. Rejects with `STORE_FAILED`; `cause` is the driver's error.
 */
export function postgresTable(given: PostgresTableOptions): ListTable<TableRow> {
  requireOptions(given, POSTGRES_TABLE_OPTIONS, 'postgresTable')
  const { pool, ...options } = given
  return databaseTable(options, {
    pushDown: (where, columnOf) => pushDownFilter(where, pushDownColumns(columnOf)),
    // As JSON, which depends neither on type parsers that the host sets nor on its time zone.
    select: ({ name, type }) =>
      `to_json(${name}${type === 'string' || type === 'uuid' ? '::text' : ''})::text`,
    selectKey: (column) => `${column}::text`,
    read: (json) => (typeof json === 'string' ? parseWithTexts(json) : null),
    async all(query) {
      const { rows } = await pool.query(numbered(query), [...query.params])
      return rows as object[]
    },
  })
}

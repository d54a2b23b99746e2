import pg from 'pg'
import { type Dialect, toSql } from '../harness/query.js'
import { pageOf, type QueryTarget } from '../harness/query-target.js'

/* Handwritten Postgres: one row of jsonb per event. */

export const JSONB_TABLE = `CREATE TABLE plain_jsonb (
  created_at bigint PRIMARY KEY, type text, username text, attributes jsonb NOT NULL
)`

const textField = (path: readonly string[]): string => `attributes #>> '{${path.join(',')}}'`

const POSTGRES: Dialect = {
  field: textField,
  number: (path) => `(${textField(path)})::numeric`,
  placeholder: (number) => `$${number}`,
  isNot: 'IS DISTINCT FROM',
  like: 'ILIKE',
}

interface Row {
  readonly attributes: Record<string, unknown>
}

export async function openJsonbTable(url: string): Promise<QueryTarget> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    prepare(query) {
      const { condition, order, values } = toSql(query, POSTGRES)
      const statement = {
        text: `SELECT created_at, type, username, attributes FROM plain_jsonb
               WHERE ${condition} ORDER BY ${order} LIMIT ${query.limit + 1}`,
        values: [...values],
      }
      return async () => {
        const { rows } = await client.query<Row>(statement)
        return pageOf(rows, query, ({ attributes }) => attributes)
      }
    },
    close: () => client.end(),
  }
}

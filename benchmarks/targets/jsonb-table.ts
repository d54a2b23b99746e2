import pg from 'pg'
import { type Dialect, toWhere } from '../harness/query.js'
import { type Asked, pageOf } from '../harness/query-target.js'

/* The table that somebody would write by hand in Postgres: a row of jsonb for each event. */

export const PLAIN_TABLE = `CREATE TABLE plain_jsonb (
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

export async function openPlainTable(url: string): Promise<Asked> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    prepare(ask) {
      const { condition, order, values } = toWhere(ask, POSTGRES)
      const query = {
        text: `SELECT created_at, type, username, attributes FROM plain_jsonb
               WHERE ${condition} ORDER BY ${order} LIMIT ${ask.limit + 1}`,
        values: [...values],
      }
      return async () => {
        const { rows } = await client.query<Row>(query)
        return pageOf(rows, ask, ({ attributes }) => attributes)
      }
    },
    close: () => client.end(),
  }
}

import { TIMES_PER_BLOCK } from '../../../src/store-kit/index/time-blocks.js'
import type { Dialect } from '../../../src/store-kit/maintenance/dialect.js'
import { type Program, type Row, runNow } from '../../../src/store-kit/maintenance/program.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { Connection } from '../connection/connection.js'
import { damagedFile } from '../connection/database.js'

export const DIALECT: Dialect = {
  tables: {
    events: 'daybook_events',
    indexState: 'daybook_index',
    attributeNames: 'daybook_names',
    segments: 'daybook_segments',
    chunkKeys: 'daybook_chunk_keys',
    late: 'daybook_late',
    removed: 'daybook_removed',
  },
  values: 'json_each(?)',
  isIn: (column) => `${column} IN (SELECT value FROM json_each(?))`,
  list: (values) => JSON.stringify(Array.from(values)),
  jsonElements: 'json_each(?)',
  forUpdate: '',
  undurable: (text) => `${text} RETURNING 1`,
  // The blocks of times.
  uncountedChunks: `(size + ${TIMES_PER_BLOCK - 1}) / ${TIMES_PER_BLOCK}`,
  canLoseChunks: false,
  hasStarts: false,
  newestLate: 'coalesce((SELECT max(id) FROM daybook_late), sealed_late)',
  assignSealed: ({ count, lateTo }) =>
    sql(
      `sealed = sealed + ?,
       sealed_late = coalesce((SELECT min(id) - 1 FROM daybook_late), ?, sealed_late)`,
      count,
      lateTo,
    ),
  damagedState: () => damagedFile('the row of daybook_index is missing or has no numbers'),
}

/** A statement that returns rows; drivers have another method for those that return none. */
const RETURNS_ROWS = /^SELECT|RETURNING/

export function runStatement(
  { statement }: Pick<Connection, 'statement'>,
  { text, params }: Sql,
): readonly Row[] {
  if (RETURNS_ROWS.test(text))
    return statement(text)
      .raw(true)
      .all(...params) as Row[]
  statement(text).run(...params)
  return []
}

/** Runs a program at once; one that writes, within a transaction. */
export const runProgram = <Result>(connection: Connection, program: Program<Result>): Result =>
  runNow(program, (statement) => runStatement(connection, statement))

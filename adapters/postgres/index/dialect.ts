import type { Dialect } from '../../../src/store-kit/maintenance/dialect.js'
import { type Program, runAwaiting } from '../../../src/store-kit/maintenance/program.js'
import { numbered } from '../../../src/store-kit/sql.js'
import {
  ask,
  ASYNC_COMMIT,
  DURABLE,
  IDLE_TIMEOUT,
  runInTransaction,
  type PostgresPoolClient,
} from '../connection/client.js'
import { type Names, quoteText } from '../schema/names.js'
import { int8Array } from '../schema/binary-array.js'
import { damagedIndexState } from './index-state.js'

export const dialectOf = (names: Names): Dialect => ({
  tables: { ...names, chunkKeys: names.chunks },
  values: 'unnest(?::int8[]) AS given(value)',
  isIn: (column) => `${column} = ANY (?::int8[])`,
  list: int8Array,
  jsonElements: 'json_array_elements(?::json)',
  forUpdate: ' FOR UPDATE',
  lockNames: `SELECT ${names.lock('names')}`,
  // On Citus, the sequences of a node have its number in the bits from 48 on. Ids have it in those from 32 on, so that
  // JavaScript has exact numbers for them.
  newSegmentId: `SELECT (next >> 48 << 32) + (next & ((1::bigint << 48) - 1))
    FROM nextval(pg_get_serial_sequence(${quoteText(names.segments)}, 'id')) AS next`,
  undurable: (text) => `WITH changed AS (${text} RETURNING 1) SELECT ${ASYNC_COMMIT} FROM changed`,
  uncountedChunks: '0',
  canLoseChunks: true,
  hasStarts: true,
  // A snapshot has no later ones.
  newestLate: String(Number.MAX_SAFE_INTEGER),
  damagedState: damagedIndexState,
})

/** Runs a program. Each statement is a transaction of its own, unless one is open. */
export const askProgram = <Result>(
  client: PostgresPoolClient,
  program: Program<Result>,
): Promise<Result> =>
  runAwaiting(program, (statement) => ask(client, numbered(statement), ...statement.params))

/** Runs a program in a transaction. */
export const changeIndex = <Result>(
  client: PostgresPoolClient,
  program: Program<Result>,
): Promise<Result> =>
  runInTransaction(client, () => askProgram(client, program), `${DURABLE}; ${IDLE_TIMEOUT}`)

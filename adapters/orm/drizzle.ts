import { SqlTransaction } from '../../src/store/sql-transaction.js'
import { driverError } from './driver-error.js'

/** The part of a transaction of Drizzle that is used, on SQLite. */
export interface DrizzleSqliteTransaction {
  rollback(): never
  all(query: never): unknown
}

/** The part of a transaction of Drizzle that is used, on Postgres. */
export interface DrizzlePostgresTransaction {
  rollback(): never
  execute(query: never): unknown
}

export type DrizzleTransaction = DrizzleSqliteTransaction | DrizzlePostgresTransaction

/** An `SQL` of Drizzle, as `getSQL` and `toQuery` show it. */
function rawSql(sql: string, params: readonly unknown[]): never {
  const query = { getSQL: () => query, toQuery: () => ({ sql, params }) }
  return query as never
}

/** False if the handle of better-sqlite3 shows that its transaction has ended. */
const isOnOpenHandle = (transaction: DrizzleTransaction): boolean => {
  const { session } = transaction as { readonly session?: { readonly client?: unknown } }
  const client = session?.client
  const isHandle = typeof client === 'object' && client !== null && 'inTransaction' in client
  return !isHandle || client.inTransaction === true
}

const isOpen = (transaction: DrizzleTransaction | undefined): boolean =>
  // Only transactions have the function `rollback`.
  typeof transaction?.rollback === 'function' && isOnOpenHandle(transaction)

/**
 * Converts an open transaction of Drizzle to a `transaction` of `record`. Throws `INVALID_OPTION` for a database
 * without a transaction. With better-sqlite3 the event is in the transaction when `record` returns its promise.
 * Otherwise, await the call of `record` before the transaction ends.
 */
export function fromDrizzle(transaction: DrizzleTransaction): SqlTransaction {
  return new SqlTransaction({
    run: (sql, params) =>
      'all' in transaction
        ? transaction.all(rawSql(sql, params))
        : execute(transaction, rawSql(sql, params)),
    isOpen: () => isOpen(transaction),
    expected: 'pass the tx of db.transaction(...)',
  })
}

async function execute(transaction: DrizzlePostgresTransaction, query: never): Promise<unknown> {
  try {
    return await transaction.execute(query)
  } catch (error) {
    throw driverError(error)
  }
}

import { SqlTransaction } from '../../src/store/sql-transaction.js'

/** The part of a `Knex.Transaction` that is used. */
export interface KnexTransaction {
  isTransaction?: boolean
  isCompleted(): boolean
  raw(sql: string, bindings: readonly unknown[]): PromiseLike<unknown>
}

const isOpen = (transaction: Partial<KnexTransaction> | undefined): boolean =>
  transaction?.isTransaction === true && transaction.isCompleted?.() === false

/**
 * Makes an open transaction of Knex a `transaction` of `record`. Throws `INVALID_OPTION` for a `Knex`
 * instance without a transaction, and for a transaction that has ended. Await the call of `record`
 * before the transaction ends.
 */
export function fromKnex(transaction: KnexTransaction): SqlTransaction {
  return new SqlTransaction({
    // A raw query is sent once it is awaited.
    run: async (sql, params) => transaction.raw(sql, params),
    isOpen: () => isOpen(transaction),
    expected: 'pass the trx of knex.transaction(...)',
  })
}

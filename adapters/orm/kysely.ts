import { randomUUID } from 'node:crypto'
import { SqlTransaction } from '../../src/store/sql-transaction.js'

/** A query as `CompiledQuery.raw` makes it. */
interface RawQuery {
  readonly sql: string
  readonly parameters: readonly unknown[]
  readonly query: {
    readonly kind: 'RawNode'
    readonly sqlFragments: readonly string[]
    readonly parameters: readonly never[]
  }
  readonly queryId: { readonly queryId: string }
}

/** The part of a `Transaction` of Kysely that is used. */
export interface KyselyTransaction {
  readonly isTransaction: true
  withoutPlugins(): {
    executeQuery(query: RawQuery): Promise<{ readonly rows: readonly unknown[] }>
  }
}

const isOpen = (transaction: KyselyTransaction | undefined): boolean =>
  transaction?.isTransaction === true &&
  // Only a `ControlledTransaction` has these properties.
  !('isCommitted' in transaction && transaction.isCommitted) &&
  !('isRolledBack' in transaction && transaction.isRolledBack)

/**
 * Makes an open transaction of Kysely a `transaction` of `record`. Throws `INVALID_OPTION` for a
 * `Kysely` instance without a transaction. Await the call of `record` before the transaction ends.
 */
export function fromKysely(transaction: KyselyTransaction): SqlTransaction {
  return new SqlTransaction({
    async run(sql, parameters) {
      const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] } as const
      const queryId = { queryId: randomUUID() }
      const { rows } = await transaction
        .withoutPlugins()
        .executeQuery({ sql, parameters, query, queryId })
      return rows
    },
    isOpen: () => isOpen(transaction),
    expected: 'pass the trx of db.transaction().execute(...) or of db.startTransaction()',
  })
}

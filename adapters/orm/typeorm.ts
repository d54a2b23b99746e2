import { SqlTransaction } from '../../src/store/sql-transaction.js'
import { driverError } from './driver-error.js'

/** The part of a `QueryRunner` of TypeORM that is used. */
export interface TypeOrmQueryRunner {
  readonly isTransactionActive: boolean
  readonly isReleased: boolean
  query(sql: string, params?: unknown[]): Promise<unknown>
}

/** The part of an `EntityManager` of TypeORM that is used. */
export interface TypeOrmManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined
}

const isRunner = (value: TypeOrmManager | TypeOrmQueryRunner): value is TypeOrmQueryRunner =>
  'isTransactionActive' in value

const runnerOf = (
  value: TypeOrmManager | TypeOrmQueryRunner | undefined,
): TypeOrmQueryRunner | undefined => (value && isRunner(value) ? value : value?.queryRunner)

/**
 * Converts an open transaction of TypeORM to a `transaction` of `record`: the `EntityManager` of a transaction, or a
 * `QueryRunner` that has begun one. Throws `INVALID_OPTION` for other objects, such as `dataSource.manager`. Await
 * the call of `record` before the transaction ends.
 */
export function fromTypeOrm(transaction: TypeOrmManager | TypeOrmQueryRunner): SqlTransaction {
  const runner = runnerOf(transaction)
  return new SqlTransaction({
    async run(sql, params) {
      try {
        return await runner!.query(sql, params.length > 0 ? [...params] : undefined)
      } catch (error) {
        throw driverError(error)
      }
    },
    isOpen: () => runner?.isTransactionActive === true && !runner.isReleased,
    expected:
      'pass the manager of dataSource.transaction(...), or a query runner after startTransaction()',
  })
}

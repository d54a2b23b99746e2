import { SqlTransaction } from '../../src/store/sql-transaction.js'

/** The part of a `Prisma.TransactionClient` that is used. */
export interface PrismaTransaction {
  /** A `PrismaClient` has this function. */
  readonly $connect?: never
  $queryRawUnsafe(sql: string, ...values: unknown[]): PromiseLike<unknown>
  $executeRawUnsafe(sql: string, ...values: unknown[]): PromiseLike<unknown>
}

interface AdapterError {
  readonly meta?: {
    readonly driverAdapterError?: {
      readonly cause?: { readonly originalCode?: string; readonly originalMessage?: string }
    }
  }
}

/** The error of the database, with its code, from the error of a driver adapter. */
function databaseError(error: unknown): unknown {
  const cause = (error as AdapterError | undefined)?.meta?.driverAdapterError?.cause
  if (cause?.originalCode === undefined) return error
  const { originalCode: code, originalMessage: message } = cause
  return Object.assign(new Error(message, { cause: error }), { code })
}

const isOpen = (transaction: PrismaTransaction | undefined): boolean =>
  typeof transaction?.$queryRawUnsafe === 'function' && transaction.$connect === undefined

/**
 * Makes an open interactive transaction of Prisma, with a driver adapter, a `transaction` of `record`.
 * Throws `INVALID_OPTION` for a `PrismaClient`. Await the call of `record` before the transaction ends.
 */
export function fromPrisma(transaction: PrismaTransaction): SqlTransaction {
  const sending = async (send: () => PromiseLike<unknown>): Promise<unknown> => {
    try {
      return await send()
    } catch (error) {
      throw databaseError(error)
    }
  }
  return new SqlTransaction({
    run: (sql, params) => sending(() => transaction.$queryRawUnsafe(sql, ...params)),
    // The adapter of pg cannot return the rows of several statements.
    execute: (sql, params) => sending(() => transaction.$executeRawUnsafe(sql, ...params)),
    isOpen: () => isOpen(transaction),
    expected: 'pass the tx of prisma.$transaction(async (tx) => ...)',
  })
}

import { AuditLogError } from '../errors.js'

/** Options for running statements in a transaction of a library of the host. */
export interface SqlTransactionOptions {
  /**
   * Sends one statement with the parameters of the driver before it returns. Returns the rows of the statement, or a
   * promise of them.
   */
  readonly run: (text: string, params: readonly unknown[]) => unknown
  /** Like `run`, for statements without rows. @default run */
  readonly execute?: (text: string, params: readonly unknown[]) => unknown
  /** False if the transaction has ended, or was none. */
  readonly isOpen: () => boolean
  /** The argument that a caller should have passed, for the error. */
  readonly expected: string
}

/** An open transaction of a library of the host. A store runs its statements in it. */
export class SqlTransaction {
  readonly #options: SqlTransactionOptions

  /** Throws `INVALID_OPTION` if the transaction is not open. */
  constructor(options: SqlTransactionOptions) {
    this.#options = options
    this.#check()
  }

  #check(): void {
    const { isOpen, expected } = this.#options
    if (isOpen()) return
    const message = `transaction: no transaction is open; ${expected}`
    throw new AuditLogError('INVALID_OPTION', message)
  }

  /**
   * Returns the rows of the statement, or a promise of them. Throws `INVALID_OPTION` if the
   * transaction has ended, and the errors of the driver.
   */
  run(text: string, params: readonly unknown[]): unknown {
    this.#check()
    return this.#options.run(text, params)
  }

  /** Runs statements without rows, in the form of a Postgres client. Rejects as {@link run} throws. */
  async query(
    text: string,
    params: readonly unknown[] = [],
  ): Promise<{ readonly rows: unknown[] }> {
    this.#check()
    const { run, execute = run } = this.#options
    await execute(text, params)
    return { rows: [] }
  }
}

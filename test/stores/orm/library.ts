import type { SqlTransaction } from 'daybook/orm'

/** A step of a transaction: inserts the order with this number and records it, or runs steps in a savepoint. */
export type Step = number | { readonly savepoint: readonly Step[]; readonly fails?: boolean }

/** The functions of a library in an open transaction. They are synchronous if the library is. */
export interface Scope {
  /** The transaction as the library's function of `daybook/orm` returns it. */
  handle(): SqlTransaction
  insertOrder(n: number): unknown
  /** Runs `act` in a nested transaction. Rethrows its error. */
  savepoint(act: (scope: Scope) => unknown): unknown
}

/** A library that is connected to a database with a table `orders (n integer)`. */
export interface Library {
  /** Set if callbacks of transactions must not be asynchronous. */
  readonly isSynchronous?: boolean
  transaction(act: (scope: Scope) => unknown): Promise<unknown>
  /** Handles without an open transaction, which must be refused. Making a handle may throw the refusal already. */
  readonly outside: Readonly<Record<string, () => unknown>>
  close(): Promise<unknown>
}

/** The database of a library: the file of the SQLite store, or the URL of the Postgres store. */
export type Place = { readonly filename: string } | { readonly url: string }

export interface LibraryUnderTest {
  readonly name: string
  /** False if its transactions cannot begin savepoints. */
  readonly nests: boolean
  open(place: Place): Promise<Library>
}

/** Runs the steps one after another. */
export async function runSteps(
  steps: readonly Step[],
  scope: Scope,
  record: (handle: SqlTransaction, n: number) => unknown,
): Promise<void> {
  for (const step of steps) {
    if (typeof step === 'number') {
      await scope.insertOrder(step)
      await record(scope.handle(), step)
    } else await caught(step.fails, async () => scope.savepoint((inner) => inside(inner, step)))
  }

  async function inside(inner: Scope, step: Exclude<Step, number>): Promise<void> {
    await runSteps(step.savepoint, inner, record)
    if (step.fails) throw new Error('out of stock')
  }
}

async function caught(fails: boolean | undefined, act: () => Promise<unknown>): Promise<void> {
  try {
    await act()
  } catch (error) {
    if (!fails) throw error
  }
}

/** Like {@link runSteps}, without a turn of the event loop. */
export function runStepsAtOnce(
  steps: readonly Step[],
  scope: Scope,
  record: (handle: SqlTransaction, n: number) => unknown,
): void {
  for (const step of steps) {
    if (typeof step === 'number') {
      scope.insertOrder(step)
      record(scope.handle(), step)
      continue
    }
    try {
      scope.savepoint((inner) => {
        runStepsAtOnce(step.savepoint, inner, record)
        if (step.fails) throw new Error('out of stock')
      })
    } catch (error) {
      if (!step.fails) throw error
    }
  }
}

import { outcomeUnknown } from '../../../src/errors.js'
import { isCommitting, isUnconfirmed, type PostgresPoolClient } from '../connection/client.js'
import { confirmCommits } from '../connection/commits.js'
import { unconfirmedError } from '../connection/connection.js'

/** Calls of this process that may have committed, without the confirmation of a synchronous standby. */
export interface Doubts {
  /** Adds such a call. */
  add(): void
  /** True if no later commit has been confirmed since such a call. */
  isAny(): boolean
  /** Resolves once the standby has confirmed a later commit; `OUTCOME_UNKNOWN` if it does not, or after the abort. */
  settle(client: PostgresPoolClient, signal: AbortSignal): Promise<void>
}

export function createDoubts(): Doubts {
  let doubts = 0
  let settled = 0

  return {
    add: () => void doubts++,
    isAny: () => doubts > settled,
    async settle(client, signal) {
      const known = doubts
      // A commit that is waited for after the abort would have to be cancelled again.
      if (signal.aborted) throw unconfirmedError()
      await confirmCommits(client)
      if (isUnconfirmed(client)) throw unconfirmedError()
      settled = Math.max(settled, known)
    },
  }
}

/** Does work that passes its connection to `note`. `OUTCOME_UNKNOWN` if it broke, or was given up, during a commit. */
export async function noteBrokenCommit<Result>(
  act: (note: (client: PostgresPoolClient) => void) => Promise<Result>,
): Promise<Result> {
  let used: PostgresPoolClient | undefined
  try {
    return await act((client) => void (used = client))
  } catch (error) {
    if (!used || !isCommitting(used)) throw error
    const what = 'Postgres did not answer the commit, so it is not known whether it took effect'
    throw outcomeUnknown(what, error)
  }
}

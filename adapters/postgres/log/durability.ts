import { AuditLogError, isOutcomeUnknown } from '../../../src/errors.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { isUnconfirmed, type PostgresPoolClient } from '../connection/client.js'
import { confirmCommits } from '../connection/commits.js'

/**
 * Knows up to which time the events are durable. Events become visible before they are; what leaves the process for
 * good, such as a tail, must not have an event that a crash of the server can take back.
 */
export interface Durability {
  /** The events up to this time are known to be durable. */
  known(): Microseconds
  /** Notes that the events up to this time are durable. */
  note(time: Microseconds): void
  /** Forgets what was noted, for another server, which may lack it. */
  forget(): void
  /**
   * Resolves once the events up to this time, which were visible on the primary before, are durable. Costs a commit if that is
   * not known. Rejects with `STORE_FAILED` if the server does not confirm it.
   */
  confirm(client: PostgresPoolClient, time: Microseconds): Promise<void>
}

export function createDurability(): Durability {
  let known: Microseconds = 0
  const note = (time: Microseconds): void => {
    if (time > known) known = time
  }
  return {
    known: () => known,
    note,
    forget: () => void (known = 0),
    async confirm(client, time) {
      if (time <= known) return
      await confirmCommits(client)
      // The wait was cancelled: the use of the connection ends with another one, or fails.
      if (!isUnconfirmed(client)) note(time)
    },
  }
}

/** For a read whose events are not known to be durable: it may be repeated. */
export const asReadFailure = (error: unknown): unknown =>
  isOutcomeUnknown(error)
    ? new AuditLogError(
        'STORE_FAILED',
        'Postgres did not confirm in time that the events are durable',
        { cause: error },
      )
    : error

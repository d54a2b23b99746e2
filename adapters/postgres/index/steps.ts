import type { PostgresPoolClient } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/**
 * How the index is built without being in anybody's way: each step is one short transaction, and what
 * is read in two of them is of two moments.
 */
export interface Steps {
  readonly names: Names
  /** Runs a step on a connection of the pool, which is given back at its end; then others have their turn. */
  readonly run: <Result>(step: (client: PostgresPoolClient) => Promise<Result>) => Promise<Result>
  /** Whether computing has gone on for so long that it is the turn of others. */
  readonly isTurn: () => boolean
  /** Lets others have theirs. */
  readonly turn: () => Promise<void>
  /** From now on, while events are written, a rest takes so many times as long as what was done before it. */
  readonly restFor: (times: number) => void
}

/**
 * SQL by which a transaction does not wait for the disk. What the index is built of comes to the disk
 * with the transaction that makes it visible, or goes with a crash as if it had never been begun.
 */
export const WITHOUT_WAITING = `set_config('synchronous_commit', 'off', true)`

/** SQL that has a transaction end of a process that is stopped just now, for which others wait. */
export const IMPATIENT = `SET LOCAL idle_in_transaction_session_timeout = '2s'`

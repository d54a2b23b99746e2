import { channel } from 'node:diagnostics_channel'

/** What can become of a call of `record` and its kind. */
export type Outcome = 'stored' | 'heldBack' | 'rejected' | 'dropped' | 'journalled'

/**
 * Where the calls made so far stand. At every moment
 * `calls = stored + heldBack + rejected + dropped + journalled + waiting`. Events that the log
 * records itself are no calls.
 */
export interface AuditLogStats {
  readonly calls: number
  /** Resolved to their event. */
  readonly stored: number
  /** Held back by a throttle, or by the type's `enabled`. */
  readonly heldBack: number
  readonly rejected: number
  /** Lost by the policy `drop`. */
  readonly dropped: number
  /** Handed to a transaction of the host's, or to the journal by the policy `queue`. */
  readonly journalled: number
  readonly waiting: number
}

/** What the channel `daybook:outcome` of `node:diagnostics_channel` is told of each call. */
export interface OutcomeMessage {
  /** The log: several may be in one process. */
  readonly audit: object
  readonly type: string
  readonly outcome: Outcome
}

const outcomes = channel('daybook:outcome')

export interface Ledger {
  readonly counts: Readonly<Record<Outcome | 'calls', number>>
  call(): void
  /** Calls of these types, all of which count before any is told. */
  settle(outcome: Outcome, ...types: readonly string[]): void
}

/** Counts the calls of one log, and tells whoever subscribes to the channel. */
export function createLedger(audit: object): Ledger {
  const counts = { calls: 0, stored: 0, heldBack: 0, rejected: 0, dropped: 0, journalled: 0 }
  return {
    counts,
    call: () => void counts.calls++,
    settle(outcome, ...types) {
      counts[outcome] += types.length
      if (!outcomes.hasSubscribers) return
      for (const type of types) outcomes.publish({ audit, type, outcome } satisfies OutcomeMessage)
    },
  }
}

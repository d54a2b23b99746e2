import { channel } from 'node:diagnostics_channel'

/** The result of a call of `record` or one of its variants. */
export type Outcome = 'stored' | 'heldBack' | 'rejected' | 'dropped' | 'journalled'

/**
 * Counts of the calls made so far. At every moment
 * `calls = stored + heldBack + rejected + dropped + journalled + waiting`. Events that the log
 * records itself are not counted.
 */
export interface AuditLogStats {
  readonly calls: number
  /** Calls that resolved to their event. */
  readonly stored: number
  /** Suppressed by a throttle, or disabled by the type's `enabled`. */
  readonly heldBack: number
  /** Not stored, except that after `OUTCOME_UNKNOWN` the event may be stored. */
  readonly rejected: number
  /** Lost under the failure policy `drop`. */
  readonly dropped: number
  /** Written to a transaction of the host, or to the journal under the failure policy `queue`. */
  readonly journalled: number
  readonly waiting: number
}

/** Message of the channel `daybook:outcome` (`node:diagnostics_channel`), one for each call. */
export interface OutcomeMessage {
  /** The log of the call; a process may have several. */
  readonly audit: object
  readonly type: string
  readonly outcome: Outcome
}

const outcomes = channel('daybook:outcome')

export interface Ledger {
  readonly counts: Readonly<Record<Outcome | 'calls', number>>
  call(): void
  /** Counts one call for each type, then publishes the outcomes. */
  settle(outcome: Outcome, ...types: readonly string[]): void
}

/** Counts the calls of one log, and publishes their outcomes. */
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

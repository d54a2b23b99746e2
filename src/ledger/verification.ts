import type { OptionNames } from '../options.js'
import type { WaitOptions } from '../store/store.js'

/**
 * Kinds of findings. `changed`: the event has other values than those that were sealed. `removed`: a sealed event is missing.
 * `unsealed`: the event stands among sealed ones and has no leaf, so it was inserted, put back or moved. `late`: the event became visible behind sealed
 * ones, and neither an import nor a live event explains it. `rewritten`: leaves were changed together with the tables of the ledger, so that
 * the events in the range cannot be told apart. `cut`: signed leaves are missing at the end. `ledger`: the tables of the ledger are damaged, and the events of these leaves
 * are proved, unless the reason says that they cannot be checked. `head`: the head in the log is not signed.
 */
export type LedgerFindingKind =
  | 'changed'
  | 'removed'
  | 'unsealed'
  | 'late'
  | 'rewritten'
  | 'cut'
  | 'ledger'
  | 'head'

export interface LedgerFinding {
  readonly kind: LedgerFindingKind
  /** The event, if there is one. */
  readonly id?: string
  /** The time of the event, also of one that is missing. */
  readonly created_at?: string
  /** The first and the last leaf. */
  readonly leaves?: readonly [first: number, last: number]
  /** Hash of what the log has there now, if it has something. */
  readonly found?: string
  /** The reason of an acknowledgement of this finding, if there is one and it still applies. */
  readonly acknowledged?: string
  /** A sentence for people. */
  readonly reason: string
}

/**
 * Result of a verification. `intact`: everything up to the largest given head is as it was sealed. `self-consistent`: nothing is wrong, but no
 * head from outside was given, so that the whole ledger may have been replaced. `tampered`: there are findings that are not acknowledged.
 */
export type LedgerResult = 'intact' | 'self-consistent' | 'tampered'

export interface LedgerVerification {
  readonly result: LedgerResult
  /** Number of leaves. */
  readonly size: number
  /** Time up to which events are sealed; `undefined` if none is. */
  readonly sealedUntil: string | undefined
  /** Number of leaves under the largest head from outside. Later leaves are not `intact`, but only self-consistent. */
  readonly provedSize: number
  /** Time from which on events were compared with their leaves; `undefined` if all were. Says nothing about earlier events. */
  readonly since: string | undefined
  /** Number of events whose leaves were compared. */
  readonly events: number
  /** Number of events that wait to be sealed, up to 10,000. */
  readonly waiting: number
  /** Number of sealed events that were removed as signed statements say. */
  readonly removed: number
  /** Number of sealed events whose removal is signed and that are still in the log. */
  readonly pending: number
  readonly findings: readonly LedgerFinding[]
}

export interface LedgerProgress {
  /** Leaves that were compared. */
  readonly done: number
  readonly total: number
}

export interface LedgerVerifyOptions extends WaitOptions {
  /** Signed notes that were kept outside of the database. @default the last note that the signer has kept, if it keeps one */
  readonly heads?: readonly string[] | undefined
  /** Compares only events from this time on with their leaves: a `created_at`. @default all */
  readonly since?: string | undefined
  readonly onProgress?: ((progress: LedgerProgress) => void) | undefined
}

export const LEDGER_VERIFY_OPTIONS: OptionNames<LedgerVerifyOptions> = {
  signal: true,
  heads: true,
  since: true,
  onProgress: true,
}

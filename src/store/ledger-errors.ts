import { AuditLogError } from '../errors.js'
import type { LedgerState } from './ledger.js'

/** Number of events at which stores stop counting those that wait. */
export const MAX_WAITING = 10_000

export const noLedger = (): AuditLogError =>
  new AuditLogError(
    'NO_LEDGER',
    'the log has no ledger: open it with the option ledger and a signer',
  )

/** The error of a ledger that would begin in a store which must not change the schema. */
export const schemaWithoutLedger = (log: string): AuditLogError =>
  new AuditLogError(
    'SCHEMA_MISMATCH',
    `${log} has no tables of a ledger, and the store has migrate: 'never': run daybook migrate with a --config that has the ledger`,
  )

/** The error of a removal by anything but the process that seals. */
export const eventsSealed = (): AuditLogError =>
  new AuditLogError(
    'SIGNER_REQUIRED',
    'the log has a ledger, so only the process that seals it removes events; nothing was removed',
  )

export const isSameState = (left: LedgerState, right: LedgerState): boolean =>
  left.size === right.size &&
  left.sealedTo === right.sealedTo &&
  left.lateTo === right.lateTo &&
  left.head === right.head &&
  left.voucher === right.voucher &&
  left.revision === right.revision

/** The state after a change. */
export const changedState = (
  before: LedgerState,
  changes: Partial<Omit<LedgerState, 'revision'>> = {},
): LedgerState => ({ ...before, ...changes, revision: crypto.randomUUID() })

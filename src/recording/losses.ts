import { inspect } from 'node:util'
import type { AuditLogError, AuditLogErrorCode } from '../errors.js'
import { innermostCause } from './store-failure.js'

/**
 * Why a call has no event in the log: the code of its error in lower case, or what the log did with it.
 * With `outcome_unknown` the event may be in the log.
 */
export type LossReason = 'dropped' | 'throttled' | Lowercase<AuditLogErrorCode>

/** Errors of calls that no store could take. */
const INVALID: ReadonlySet<AuditLogErrorCode> = new Set([
  'IDEMPOTENCY_CONFLICT',
  'INVALID_EVENT',
  'INVALID_LINK',
  'INVALID_OPTION',
])

/**
 * The reason of a rejected call; `undefined` if nothing is lost. A custom event that is refused as
 * invalid is not lost: its author, often a client, gets the error and must not be able to raise an
 * alarm.
 */
export function lossReason(system: boolean, { code }: AuditLogError): LossReason | undefined {
  if (!system && INVALID.has(code)) return undefined
  return code.toLowerCase() as Lowercase<AuditLogErrorCode>
}

// Drivers have few codes, unless a host's functions throw errors with codes of their own.
const MAX_CAUSES = 100

/** Emits a process warning for lost events, once for each cause. `type` may be anything if the call was invalid. */
export function createLossWarnings(): (type: unknown, error: AuditLogError) => void {
  const given = new Set<string>()
  return (type, error) => {
    const cause = innermostCause(error)
    const { code, name } = cause as Error & { readonly code?: unknown }
    const key = `${error.code} ${typeof code === 'string' ? code : name}`
    if (given.has(key) || given.size >= MAX_CAUSES) return
    given.add(key)
    const reason = error.message.includes(cause.message) ? '' : `: ${cause.message}`
    process.emitWarning(
      `an event of the type ${typeof type === 'string' ? type : inspect(type)} is lost: ${error.message}${reason} (the audit log has no listener for 'rejected'; this is reported once for each cause)`,
    )
  }
}

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

/** Counts the work that is lost if the process exits now. */
export interface Unfinished {
  count(): number
}

/** Emits a process warning if work is unfinished when the process exits. */
export interface ExitWarning {
  add(source: Unfinished): void
  delete(source: Unfinished): void
}

/** `messageOf` gets the sum of the counts, if it is not 0. */
export function createExitWarning(messageOf: (count: number) => string): ExitWarning {
  const sources = new Set<Unfinished>()
  let isInstalled = false
  const warn = (): void => {
    let sum = 0
    for (const source of sources) sum += source.count()
    // `process.emitWarning` would wait for a turn of the event loop that never comes.
    if (sum > 0)
      process.emit('warning', Object.assign(new Error(messageOf(sum)), { name: 'Warning' }))
  }
  return {
    add(source) {
      sources.add(source)
      if (!isInstalled) process.on('exit', warn)
      isInstalled = true
    },
    delete: (source) => void sources.delete(source),
  }
}

/** Such as `1 lost event is`, for the kind `lost `. */
export const eventsWithVerb = (count: number, kind = ''): string =>
  `${count} ${kind}${count === 1 ? 'event is' : 'events are'}`

export const waitingAtExit = createExitWarning(
  (count) =>
    `the process exits before ${eventsWithVerb(count)} acknowledged: await audit.close() before process.exit()`,
)

export const lossesAtExit = createExitWarning(
  (count) =>
    `${eventsWithVerb(count, 'lost ')} not reported in the audit log, because the process exits before the store takes a gap event`,
)

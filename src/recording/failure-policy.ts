import { AuditLogError, type AuditLogErrorCode } from '../errors.js'
import { eventTypeFault, splitEventType } from '../event/event-types.js'
import { checkNamed, checkOptions, type OptionNames } from '../options.js'

/**
 * The result of a call if the store fails or does not answer within the deadline, or if the queue is
 * full:
 * - `block` the call rejects;
 * - `queue` the event goes to the journal on this machine, and from there to the store;
 * - `drop` the event is lost, and counted.
 */
export type FailurePolicy = 'block' | 'queue' | 'drop'

export interface FailurePolicies {
  /** @default 'block' */
  readonly default?: FailurePolicy
  /** Policies by level, the part of a type before its first colon, such as `api`. */
  readonly levels?: Readonly<Record<string, FailurePolicy>>
  /** Policies by type. They take precedence over `levels`. */
  readonly types?: Readonly<Record<string, FailurePolicy>>
}

const FAILURE_POLICIES: OptionNames<FailurePolicies> = { default: true, levels: true, types: true }

const POLICIES: ReadonlySet<unknown> = new Set<FailurePolicy>(['block', 'queue', 'drop'])

const POLICY_CODES: ReadonlySet<AuditLogErrorCode> = new Set([
  'STORE_FAILED',
  'DEADLINE_EXCEEDED',
  'OUTCOME_UNKNOWN',
  'QUEUE_FULL',
])

/** True if the failure policy applies to the error. Calls with other errors always reject. */
export function isPolicyError({ code }: AuditLogError): boolean {
  return POLICY_CODES.has(code)
}

/**
 * Returns the policy by event type. Throws `INVALID_OPTION` for an unknown policy, level or type, and
 * for `queue` without a journal.
 */
export function readFailurePolicies(
  given: FailurePolicy | FailurePolicies = 'block',
  hasJournal: boolean,
): (type: string) => FailurePolicy {
  if (typeof given !== 'string') checkOptions(given, FAILURE_POLICIES, 'failurePolicy')
  const {
    default: fallback = 'block',
    levels = {},
    types = {},
  }: FailurePolicies = typeof given === 'object' ? given : { default: given }
  checkNamed(levels, 'failurePolicy.levels')
  checkNamed(types, 'failurePolicy.types')
  const named: [string, unknown][] = [
    ['default', fallback],
    ...Object.entries(levels).map(([level, policy]): [string, unknown] => [
      `levels.${level}`,
      policy,
    ]),
    ...Object.entries(types).map(([type, policy]): [string, unknown] => [`types.${type}`, policy]),
  ]
  const unknown = named.find(([, policy]) => !POLICIES.has(policy))
  if (unknown)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.${unknown[0]} must be block, queue or drop; it is ${JSON.stringify(unknown[1])}`,
    )
  const notLevel = Object.keys(levels).find((level) => level.includes(':'))
  if (notLevel !== undefined)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.levels.${notLevel}: a level is the part of a type before its first colon`,
    )
  const notType = Object.keys(types).find((type) => eventTypeFault(type) !== undefined)
  if (notType !== undefined)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.types.${notType} is not a valid event type`,
    )
  const queued = named.find(([, policy]) => policy === 'queue')
  if (queued && !hasJournal)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.${queued[0]} is queue, which needs the option journal, such as sqliteJournal of daybook/sqlite`,
    )
  const byLevel = new Map(Object.entries(levels))
  const byType = new Map(Object.entries(types))
  if (byLevel.size + byType.size === 0) return () => fallback
  return (type) => byType.get(type) ?? byLevel.get(splitEventType(type).level) ?? fallback
}

import { AuditLogError, type AuditLogErrorCode } from '../errors.js'
import { eventTypeFault, splitEventType } from '../event/event-types.js'

/**
 * What becomes of a call that the store does not take, because it fails, hangs beyond the deadline,
 * or too many wait for it:
 * - `block` the call rejects;
 * - `queue` the event goes to the journal on this machine, and from there to the store;
 * - `drop` the event is lost, and counted.
 */
export type FailurePolicy = 'block' | 'queue' | 'drop'

export interface FailurePolicies {
  /** @default 'block' */
  readonly default?: FailurePolicy
  /** By what stands before the first colon of a type, such as `api`. */
  readonly levels?: Readonly<Record<string, FailurePolicy>>
  /** By whole types; they come before levels. */
  readonly types?: Readonly<Record<string, FailurePolicy>>
}

const POLICIES: ReadonlySet<unknown> = new Set<FailurePolicy>(['block', 'queue', 'drop'])

const COVERED: ReadonlySet<AuditLogErrorCode> = new Set([
  'STORE_FAILED',
  'DEADLINE_EXCEEDED',
  'QUEUE_FULL',
])

/** True for what a policy decides on; other errors are the caller's, and reject. */
export function isCovered({ code }: AuditLogError): boolean {
  return COVERED.has(code)
}

/** Throws `INVALID_OPTION` naming what is no policy, and where `queue` has no journal to go to. */
export function readFailurePolicies(
  given: FailurePolicy | FailurePolicies = 'block',
  hasJournal: boolean,
): (type: string) => FailurePolicy {
  const {
    default: usual = 'block',
    levels = {},
    types = {},
  }: FailurePolicies = typeof given === 'object' ? given : { default: given }
  const named: [string, unknown][] = [
    ['default', usual],
    ...Object.entries(levels).map(([level, policy]): [string, unknown] => [
      `levels.${level}`,
      policy,
    ]),
    ...Object.entries(types).map(([type, policy]): [string, unknown] => [`types.${type}`, policy]),
  ]
  const wrong = named.find(([, policy]) => !POLICIES.has(policy))
  if (wrong)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.${wrong[0]} must be block, queue or drop; it is ${JSON.stringify(wrong[1])}`,
    )
  const colon = Object.keys(levels).find((level) => level.includes(':'))
  if (colon !== undefined)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.levels.${colon}: a level is what stands before the first colon of a type`,
    )
  const fault = Object.keys(types).find((type) => eventTypeFault(type) !== undefined)
  if (fault !== undefined)
    throw new AuditLogError('INVALID_OPTION', `failurePolicy.types.${fault} is no event type`)
  const queued = named.find(([, policy]) => policy === 'queue')
  if (queued && !hasJournal)
    throw new AuditLogError(
      'INVALID_OPTION',
      `failurePolicy.${queued[0]} is queue, which needs the option journal, such as sqliteJournal of daybook/sqlite`,
    )
  const byLevel = new Map(Object.entries(levels))
  const byType = new Map(Object.entries(types))
  if (byLevel.size + byType.size === 0) return () => usual
  return (type) => byType.get(type) ?? byLevel.get(splitEventType(type).level) ?? usual
}

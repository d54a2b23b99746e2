import type { AuditEvent, JsonObject } from './event.js'

/*
 * Attributes that have one meaning in all system events. Clients give the attributes of custom events, so there these
 * names mean nothing.
 */

/** How an act ended: done, failed, or not allowed. */
export const OUTCOMES = ['success', 'failure', 'denied'] as const

/** The attribute `outcome`. */
export type Outcome = (typeof OUTCOMES)[number]

const isOutcome = (value: unknown): value is Outcome =>
  (OUTCOMES as readonly unknown[]).includes(value)

/** The values that the attribute `outcome` may have, for messages. */
export const OUTCOME_VALUES = OUTCOMES.join(', ')

/** True if `outcome` has a value that it cannot have. Null means that none is given. */
export function isWrongOutcome(name: string, value: unknown): boolean {
  return name === 'outcome' && value !== null && !isOutcome(value)
}

/** The outcome that a system event states; `undefined` if it states none. */
export function outcomeOf({
  system,
  attributes,
}: Pick<AuditEvent, 'system' | 'attributes'>): Outcome | undefined {
  const outcome = Object.hasOwn(attributes, 'outcome') ? attributes['outcome'] : undefined
  return system && isOutcome(outcome) ? outcome : undefined
}

/** The outcome of a request that was answered with this status. */
function outcomeOfStatus(status: number): Outcome {
  if (status < 400) return 'success'
  return status === 401 || status === 403 ? 'denied' : 'failure'
}

/**
 * The outcome of a request by its status, if that is known, unless the data has one. Data that cannot be an outcome is kept under
 * another name.
 */
export function requestOutcome(
  { outcome = null }: Readonly<Record<string, unknown>>,
  status: number | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (isOutcome(outcome)) return undefined
  return {
    ...(outcome !== null && { attributes_outcome: outcome }),
    outcome: status === undefined ? undefined : outcomeOfStatus(status),
  }
}

/** True if the attributes have a reason that is not blank. */
export function hasReason({ reason }: JsonObject): boolean {
  return typeof reason === 'string' && reason.trim() !== ''
}

import type { AuditEvent } from '../../../src/event/event.js'

type Recorded = Pick<AuditEvent, 'system' | 'attributes'>

/** Attributes with one meaning that the panel shows beside the user, in this order. */
const NAMES = [
  'on_behalf_of',
  'actor_id',
  'agent_session_id',
  'outcome',
  'reason',
  'approved_by',
  'user_agent',
] as const

export interface KnownFact {
  readonly name: (typeof NAMES)[number]
  /** At least one text. */
  readonly values: readonly string[]
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

/** The attributes that a system event has. Clients give those of custom events, so these state nothing. */
export function knownFacts({ system, attributes }: Recorded): readonly KnownFact[] {
  if (!system) return []
  return NAMES.flatMap((name) => {
    const values = [attributes[name]].flat().filter(isText)
    return values.length > 0 ? [{ name, values }] : []
  })
}

/** The kind of the actor of a system event. */
export function actorKind({ system, attributes }: Recorded): string | undefined {
  const { actor_kind } = attributes
  return system && typeof actor_kind === 'string' ? actor_kind : undefined
}

import type { AuditEvent } from '../../../src/event/event.js'

/** Facts about the actor that the panel shows besides the user name. */
export interface ActorFacts {
  readonly kind: string | undefined
  readonly onBehalfOf: string | undefined
}

export function actorFacts({ attributes }: Pick<AuditEvent, 'attributes'>): ActorFacts {
  const { actor_kind, on_behalf_of } = attributes
  return {
    kind: typeof actor_kind === 'string' ? actor_kind : undefined,
    onBehalfOf: typeof on_behalf_of === 'string' && on_behalf_of !== '' ? on_behalf_of : undefined,
  }
}

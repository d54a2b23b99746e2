import type { CustomTypes } from '../../../src/event/custom-types.js'
import type { AuditEvent, JsonObject } from '../../../src/event/event.js'
import type { EventTypes } from '../../../src/event/event-types.js'

/* The JSON:API documents of a feed. */

export interface EventResource {
  readonly id: string
  readonly attributes: Omit<AuditEvent, 'id' | 'source' | 'attributes'> & JsonObject
  readonly relationships?: { readonly source?: { readonly links?: { readonly source?: string } } }
}

export interface EventsDocument {
  readonly data: readonly EventResource[]
}

export interface EventDocument {
  readonly data: EventResource
}

/** The event of a resource, with its members in the order of events of a store. */
export function eventOf({ id, attributes: all, relationships }: EventResource): AuditEvent {
  const { type, username, system, created_at, ...attributes } = all
  const source = relationships?.source?.links?.source ?? null
  return { id, created_at, username, system, type, source, attributes }
}

interface TypeAttributes {
  readonly description: string | null
  readonly live: boolean
  readonly sentence: string | null
}

export interface TypesDocument {
  readonly data: readonly { readonly id: string; readonly attributes: TypeAttributes }[]
  readonly meta: {
    readonly custom_types: readonly {
      readonly type: string
      readonly label: string | null
      readonly description: string | null
      readonly sentence: string | null
    }[]
  }
}

export interface DescribedBy {
  readonly types: EventTypes
  readonly customTypes: CustomTypes
}

/** Returns the event types and custom types for sentences. */
export function describedBy({ data, meta }: TypesDocument): DescribedBy {
  const types = data.map(({ id, attributes: { description, live, sentence } }) => [
    id,
    { live, ...(description !== null && { description }), ...(sentence !== null && { sentence }) },
  ])
  const customTypes = meta.custom_types.map(({ type, label, description, sentence }) => [
    type,
    {
      ...(label !== null && { label }),
      ...(description !== null && { description }),
      ...(sentence !== null && { sentence }),
    },
  ])
  return {
    types: Object.fromEntries(types) as EventTypes,
    customTypes: Object.fromEntries(customTypes) as CustomTypes,
  }
}

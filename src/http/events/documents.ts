import type { AuditEvent, JsonObject } from '../../event.js'
import { jsonapi } from '../problem.js'
import type { Fieldset } from './fieldset.js'

/** The event as the interface's Event resource; `path` is where the endpoints are mounted. */
export function eventResource(event: AuditEvent, path: string, fields?: Fieldset): JsonObject {
  const { id, type, username, system, created_at, source } = event
  const attributes = { type, username, system, created_at, ...event.attributes }
  const isWanted = (name: string): boolean => fields?.has(name) ?? true
  return {
    type: 'event',
    id,
    attributes: fields
      ? Object.fromEntries(Object.entries(attributes).filter(([name]) => isWanted(name)))
      : attributes,
    ...(source !== null &&
      isWanted('source') && { relationships: { source: { links: { source } } } }),
    links: { self: `${path}/${id}` },
  }
}

export function eventsDocument(
  events: readonly AuditEvent[],
  path: string,
  links: Readonly<Record<string, string>>,
  fields?: Fieldset,
): string {
  const data = events.map((event) => eventResource(event, path, fields))
  return JSON.stringify({ jsonapi, data, links })
}

export function eventDocument(event: AuditEvent, path: string, fields?: Fieldset): string {
  const data = eventResource(event, path, fields)
  return JSON.stringify({ jsonapi, data, links: { self: `${path}/${event.id}` } })
}

import type { AuditEvent, JsonObject } from '../event.js'

/** The event as the interface's Event resource; `path` is where the endpoints are mounted. */
export function eventResource(event: AuditEvent, path: string): JsonObject {
  const { id, type, username, system, created_at, source, attributes } = event
  return {
    type: 'event',
    id,
    attributes: { type, username, system, created_at, ...attributes },
    ...(source === null ? {} : { relationships: { source: { links: { source } } } }),
    links: { self: `${path}/${id}` },
  }
}

const jsonapi = { version: '1.1' }

export function listDocument(
  data: readonly object[],
  links: Readonly<Record<string, string>>,
): string {
  return JSON.stringify({ jsonapi, data, links })
}

export function eventsDocument(
  events: readonly AuditEvent[],
  path: string,
  links: Readonly<Record<string, string>>,
): string {
  return listDocument(
    events.map((event) => eventResource(event, path)),
    links,
  )
}

export function eventDocument(event: AuditEvent, path: string): string {
  const data = eventResource(event, path)
  return JSON.stringify({ jsonapi, data, links: { self: `${path}/${event.id}` } })
}

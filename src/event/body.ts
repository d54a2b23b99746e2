import type { AuditEvent } from './event.js'
import { attributesJson } from './lazy-event.js'

type Body = Omit<AuditEvent, 'id' | 'created_at' | 'attributes'>

/**
 * The event's export line without `id` and `created_at`: a JSON object. `attributes` is JSON text, and becomes part of it as it is.
 */
export function bodyJson({ username, system, type, source }: Body, attributes: string): string {
  const own = JSON.stringify({ username, system, type, source })
  return `${own.slice(0, -1)},"attributes":${attributes}}`
}

/** A whole event, in the format of archives and of `importEvents`, which ignores the key of the log. */
export function eventJson(event: AuditEvent, log?: string): string {
  const { id, created_at } = event
  const head = JSON.stringify({ log, id, created_at })
  return `${head.slice(0, -1)},${bodyJson(event, attributesJson(event)).slice(1)}`
}

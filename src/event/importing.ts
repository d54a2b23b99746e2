import { AuditLogError } from '../errors.js'
import type { AuditEvent, ImportedEvent } from './event.js'
import { isUuid } from './event-id.js'
import { eventTypeFault } from './event-types.js'
import { type JsonLimits, toJsonText } from './json.js'
import { storableText } from './json-copy.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from './timestamp.js'

const isTextOrNull = (value: unknown): value is string | null =>
  value === null || typeof value === 'string'

/**
 * Checks one event of an import and makes its JSON as for any other. Throws `INVALID_EVENT` with a
 * pointer to the member that is wrong.
 */
export function readImported(given: AuditEvent, index: number, limits: JsonLimits): ImportedEvent {
  const fault = (member: string, message: string): AuditLogError =>
    new AuditLogError('INVALID_EVENT', `event ${index}: ${member} ${message}`, {
      pointer: `/${index}/${member}`,
    })
  // The types are a promise of the caller's; the data often comes out of a file.
  const { id, created_at, username, system, type, source, attributes } = Object(given) as {
    [Member in keyof AuditEvent]: unknown
  }
  if (typeof id !== 'string' || !isUuid(id.toLowerCase())) throw fault('id', 'must be a UUID')
  const time = typeof created_at === 'string' ? parseTimestamp(created_at) : undefined
  if (time === undefined || time < 0)
    throw fault('created_at', 'must be an ISO 8601 timestamp, not before 1970')
  const typeFault = eventTypeFault(type)
  if (typeFault !== undefined) throw fault('type', typeFault)
  if (typeof system !== 'boolean') throw fault('system', 'must be true or false')
  if (!isTextOrNull(username)) throw fault('username', 'must be a text or null')
  if (!isTextOrNull(source)) throw fault('source', 'must be a text or null')
  if (attributes === null || typeof attributes !== 'object' || Array.isArray(attributes))
    throw fault('attributes', 'must be an object')
  const text = toJsonText(attributes, limits)
  const event: AuditEvent = {
    id: id.toLowerCase(),
    created_at: formatTimestamp(time),
    username: username === null ? null : storableText(username),
    system,
    type: type as string,
    source: source === null ? null : storableText(source),
    attributes: text.attributes,
  }
  return { event, time, json: text.json }
}

/** An event that a store has, its attributes as JSON text beside it. */
export interface StoredEvent {
  readonly event: AuditEvent
  readonly json: string
}

/** What a store has at the times of imported events, and with their ids. */
export interface StoredEvents {
  at(time: Microseconds): StoredEvent | undefined
  hasId(id: string): boolean
}

/**
 * Those that are to be kept, in their order; what is there already, or comes twice, is left out.
 * Throws `IMPORT_CONFLICT` for a time later than `now`, and an id or a time that another event has.
 */
export function freshEvents(
  imported: readonly ImportedEvent[],
  now: Microseconds,
  stored: StoredEvents,
): ImportedEvent[] {
  const fresh = new Map<Microseconds, ImportedEvent>()
  const ids = new Set<string>()
  for (const candidate of imported) {
    const { event, time } = candidate
    const there = stored.at(time) ?? fresh.get(time)
    if (there && isSame(there, candidate)) continue
    if (time > now || there || stored.hasId(event.id) || ids.has(event.id))
      throw conflict(candidate, now)
    fresh.set(time, candidate)
    ids.add(event.id)
  }
  return [...fresh.values()]
}

function isSame(stored: StoredEvent, imported: ImportedEvent): boolean {
  return (
    stored.json === imported.json &&
    stored.event.id === imported.event.id &&
    stored.event.type === imported.event.type &&
    stored.event.username === imported.event.username &&
    stored.event.system === imported.event.system &&
    stored.event.source === imported.event.source
  )
}

function conflict({ event, time }: ImportedEvent, now: Microseconds): AuditLogError {
  const reason =
    time > now
      ? `has a created_at, ${event.created_at}, later than now`
      : `has an id or a created_at, ${event.created_at}, that another event has`
  return new AuditLogError('IMPORT_CONFLICT', `the event ${event.id} ${reason}`)
}

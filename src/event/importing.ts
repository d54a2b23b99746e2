import { inspect } from 'node:util'
import { AuditLogError } from '../errors.js'
import type { AuditEvent, ImportedEvent, JsonObject } from './event.js'
import { isUuid } from './uuid.js'
import { eventTypeFault } from './event-types.js'
import { type JsonLimits, type JsonText, toJsonText } from './json.js'
import { PERSONAL, sealedParts } from './personal.js'
import { storableText } from './json-copy.js'
import { formatTimestamp, type Microseconds, parseTimestamp } from './timestamp.js'

const isTextOrNull = (value: unknown): value is string | null =>
  value === null || typeof value === 'string'

/** Does what `toJsonText` does, but never cuts a ciphertext: a cut ciphertext cannot be decrypted. */
function importedText(given: object, limits: JsonLimits): Pick<JsonText, 'attributes' | 'json'> {
  const text = toJsonText(given, limits)
  if (!Object.hasOwn(text.attributes, 'recording')) return text
  const { [PERSONAL]: own, ...others } = given as JsonObject
  const parts = own === undefined ? undefined : sealedParts({ [PERSONAL]: own })
  if (!parts) return text
  const attributes = {
    ...toJsonText(others, limits).attributes,
    [PERSONAL]: parts.map((part) => ({ ...part })),
  }
  return { attributes, json: JSON.stringify(attributes) }
}

/**
 * Checks one event of an import and converts its attributes to JSON like those of any other event.
 * Throws `INVALID_EVENT` with a pointer to the wrong member.
 */
function toImportedEvent(given: AuditEvent, index: number, limits: JsonLimits): ImportedEvent {
  const fault = (member: string, message: string): AuditLogError =>
    new AuditLogError('INVALID_EVENT', `event ${index}: ${member} ${message}`, {
      pointer: `/${index}/${member}`,
    })
  // Imported data often comes from a file, so its types are not certain.
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
  const text = importedText(attributes, limits)
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

/** The events of an import, each checked. Throws `INVALID_EVENT` for anything but a list, and for the first wrong event. */
export function toImportedEvents(
  events: readonly AuditEvent[],
  limits: JsonLimits,
): readonly ImportedEvent[] {
  if (!Array.isArray(events))
    throw new AuditLogError('INVALID_EVENT', `events must be a list; it is ${inspect(events)}`)
  return events.map((event, index) => toImportedEvent(event, index, limits))
}

/** A stored event, and its attributes as JSON text. */
export interface StoredEvent {
  readonly event: AuditEvent
  readonly json: string
}

/** The stored events with the times and ids of imported ones. */
export interface StoredEvents {
  at(time: Microseconds): StoredEvent | undefined
  hasId(id: string): boolean
}

/**
 * The imported events that are new, in their order. Leaves out events that are stored already or
 * repeated. Throws `IMPORT_CONFLICT` for a time after `now`, and for an id or time of another event.
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
    const existing = stored.at(time) ?? fresh.get(time)
    if (existing && isSame(existing, candidate)) continue
    if (time > now || existing || stored.hasId(event.id) || ids.has(event.id))
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
      ? `has a created_at, ${event.created_at}, in the future`
      : `has an id or a created_at, ${event.created_at}, that another event has`
  return new AuditLogError('IMPORT_CONFLICT', `the event ${event.id} ${reason}`)
}

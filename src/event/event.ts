import { eventId, type IdTail } from './event-id.js'
import { formatTimestamp, type Microseconds } from './timestamp.js'

/*
 * The words of this project:
 *   event       one thing that happened, kept for good (until a cleaning rule removes it)
 *   type        what happened, `<level>:<subject>:<action>` for events of the system
 *   attributes  everything else about it, JSON of any shape
 *   link        an attribute that names a resource, such as `change_id`
 *   source      the API path of the resource an event relates to, from its best link
 *   draft       an event before a store has given it its place in time
 */

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject

export interface JsonObject {
  [key: string]: JsonValue
}

/** One recorded event, with the field names of the interface's Event resource. */
export interface AuditEvent {
  /** UUID version 7 that carries `created_at`; imported events may have another UUID. */
  readonly id: string
  /** When the event became visible: UTC, six fractional digits, `Z`; unique in its store. */
  readonly created_at: string
  /** The requesting user, or null where none is behind it. */
  readonly username: string | null
  /** True where the service recorded it, false for custom events. */
  readonly system: boolean
  readonly type: string
  /** API path of the resource the event relates to, or null. */
  readonly source: string | null
  readonly attributes: JsonObject
}

/** Of the drafts with the same key one is kept in a period. */
export interface DraftThrottle {
  /** The type, and the values of the scope's data keys. */
  readonly key: string
  readonly scope: JsonObject
  readonly period: Microseconds
}

/** What a store is given: clean, complete but for its time. */
export interface EventDraft {
  /** The random end of the id, drawn once: a retry carries the same one. */
  readonly tail: IdTail
  readonly username: string | null
  readonly system: boolean
  readonly type: string
  readonly source: string | null
  readonly attributes: JsonObject
  /** `attributes` as JSON text, made once for every store. */
  readonly json: string
  readonly throttle?: DraftThrottle | undefined
  /** True where the attributes go on changing until the event is closed. */
  readonly live?: true | undefined
}

/** The event that a draft becomes when a store gives it its time. */
export function stampDraft(draft: EventDraft, time: Microseconds): AuditEvent {
  return {
    id: eventId(time, draft.tail),
    created_at: formatTimestamp(time),
    username: draft.username,
    system: draft.system,
    type: draft.type,
    source: draft.source,
    attributes: draft.attributes,
  }
}

/** An event that brings its own id and time, and its attributes as text too. */
export interface ImportedEvent {
  readonly event: AuditEvent
  readonly time: Microseconds
  readonly json: string
}

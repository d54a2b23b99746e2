import { eventId, type IdSuffix } from './event-id.js'
import { formatTimestamp, type Microseconds } from './timestamp.js'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject

export interface JsonObject {
  [key: string]: JsonValue
}

/** A recorded event, with the field names of the interface's Event resource. */
export interface AuditEvent {
  /** UUID version 7 that carries `created_at`; imported events may have another UUID. */
  readonly id: string
  /** When the event became visible: UTC, six fractional digits, `Z`; unique in its store. */
  readonly created_at: string
  /** The requesting user, or null if there is none. */
  readonly username: string | null
  /** True if the service recorded it, false for custom events. */
  readonly system: boolean
  readonly type: string
  /** API path of the resource the event relates to, or null. */
  readonly source: string | null
  readonly attributes: JsonObject
}

/** At most one draft with the same key is stored per period. */
export interface DraftThrottle {
  /** Identifies the throttle: made from the type and the values of `scope`. */
  readonly key: string
  /** The data keys of the throttle's scope, with their values in this draft. */
  readonly scope: JsonObject
  readonly period: Microseconds
}

/** An event that a store has not stamped with its time yet. Its content is valid and complete. */
export interface EventDraft {
  /** The random end of the id. Drawn once, so that retries carry the same one. */
  readonly suffix: IdSuffix
  readonly username: string | null
  readonly system: boolean
  readonly type: string
  readonly source: string | null
  readonly attributes: JsonObject
  /** `attributes` as JSON text. */
  readonly json: string
  /**
   * The names of the attributes that do not come from the call, such as ids of the request and fields of the actor.
   */
  readonly added?: readonly string[] | undefined
  readonly throttle?: DraftThrottle | undefined
  /** True for a live event, whose attributes change until it is closed. */
  readonly live?: true | undefined
}

/** The event that a draft becomes at its time, without its attributes. */
export const stampOwnFields = (
  draft: EventDraft,
  time: Microseconds,
): Omit<AuditEvent, 'attributes'> => ({
  id: eventId(time, draft.suffix),
  created_at: formatTimestamp(time),
  username: draft.username,
  system: draft.system,
  type: draft.type,
  source: draft.source,
})

/** The event that a draft becomes at its time. */
export const stampDraft = (draft: EventDraft, time: Microseconds): AuditEvent => ({
  ...stampOwnFields(draft, time),
  attributes: draft.attributes,
})

/*
 * Drafts and events of a store that reads only JSON text. Their attributes are parsed when they are first read, which
 * few callers do. Copying the data would take longer than checking it, and the garbage collector would move the
 * copies while the draft waits for the disk.
 */

interface Late {
  readonly json: string
  parsed: JsonObject | undefined
}

/** The key of the value that the getter reads. Its property is not enumerable, so that copies and comparisons leave it out. */
const LATE = Symbol('late attributes')

interface WithLate {
  readonly [LATE]: Late
}

/** The same for all objects, so that V8 gives all of them one hidden class. */
const ATTRIBUTES: PropertyDescriptor & ThisType<WithLate> = {
  get() {
    const late = this[LATE]
    return (late.parsed ??= JSON.parse(late.json) as JsonObject)
  },
  set(attributes: JsonObject) {
    this[LATE].parsed = attributes
  },
  enumerable: true,
  configurable: true,
}

/** `console.log` would show a getter. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')
const INSPECTED: PropertyDescriptor & ThisType<object> = {
  value() {
    return { ...this }
  },
  configurable: true,
}

/** Adds `attributes` to the object: the value of the JSON text, parsed when it is first read. */
export function withLateAttributes<Own extends object>(
  own: Own,
  json: string,
): Own & { readonly attributes: JsonObject } {
  const value: Late = { json, parsed: undefined }
  Object.defineProperty(own, LATE, { value })
  return Object.defineProperty(own, 'attributes', ATTRIBUTES) as Own & {
    readonly attributes: JsonObject
  }
}

/** Like `stampDraft`, with late attributes. */
export function stampLate(draft: EventDraft, time: Microseconds): AuditEvent {
  const event = withLateAttributes(stampOwnFields(draft, time), draft.json)
  return Object.defineProperty(event, INSPECT, INSPECTED)
}

/** An event with an id and time of its own, and its attributes as JSON text. */
export interface ImportedEvent {
  readonly event: AuditEvent
  readonly time: Microseconds
  readonly json: string
}

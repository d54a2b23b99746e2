import { type AuditEvent, type EventDraft, type JsonObject, stampOwnFields } from './event.js'
import type { Microseconds } from './timestamp.js'

/*
 * Drafts and events of a store that reads only JSON text: their attributes are parsed when they are first read, which
 * few callers do. A copy of the data would take longer than the check that replaces it, and its objects would be moved
 * by the garbage collector while the draft waits for the disk.
 */

interface Late {
  readonly json: string
  parsed: JsonObject | undefined
}

/** The key of what the getter reads. Its property is not enumerable, so that copies and comparisons leave it out. */
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

/** Adds `attributes` to the object: what the JSON text holds, parsed when it is first read. */
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

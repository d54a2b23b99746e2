import type { AuditEvent, EventDraft, JsonObject } from './event.js'
import { eventId } from './event-id.js'
import { formatTimestamp, type Microseconds } from './timestamp.js'

/*
 * Drafts and events of a store that reads only JSON text: their attributes are parsed when they are first read, which
 * few callers do. A copy of the data would take longer than the check that replaces it, and its objects would be moved
 * by the garbage collector while the draft waits for the disk.
 */

class Given {
  constructor(object: object) {
    // oxlint-disable-next-line no-constructor-return
    return object
  }
}

/** Adds private fields to an object, which stays of its own class: a plain object. */
class Late extends Given {
  readonly #json: string
  #attributes: JsonObject | undefined

  constructor(object: object, json: string) {
    super(object)
    this.#json = json
  }

  static read(late: Late): JsonObject {
    return (late.#attributes ??= JSON.parse(late.#json) as JsonObject)
  }

  static replace(late: Late, attributes: JsonObject): void {
    late.#attributes = attributes
  }
}

/** The same for all objects, so that V8 gives all of them one hidden class. */
const ATTRIBUTES: PropertyDescriptor & ThisType<Late> = {
  get() {
    return Late.read(this)
  },
  set(attributes: JsonObject) {
    Late.replace(this, attributes)
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
  new Late(own, json)
  return Object.defineProperty(own, 'attributes', ATTRIBUTES) as Own & {
    readonly attributes: JsonObject
  }
}

/** Like `stampDraft`, with late attributes. */
export function stampLate(draft: EventDraft, time: Microseconds): AuditEvent {
  const event = withLateAttributes(
    {
      id: eventId(time, draft.suffix),
      created_at: formatTimestamp(time),
      username: draft.username,
      system: draft.system,
      type: draft.type,
      source: draft.source,
    },
    draft.json,
  )
  return Object.defineProperty(event, INSPECT, INSPECTED)
}

import type { AuditEvent, JsonObject } from './event.js'

/**
 * An event whose attributes stay JSON text until they are read, because most listed events are only
 * serialized. Spreading or printing it does not read them.
 */
export class LazyEvent implements AuditEvent {
  readonly id: string
  readonly created_at: string
  readonly username: string | null
  readonly system: boolean
  readonly type: string
  readonly source: string | null
  readonly #json: string
  /** True if `JSON.stringify` has written the text. */
  readonly #isCanonical: boolean
  #attributes: JsonObject | undefined

  constructor(own: Omit<AuditEvent, 'attributes'>, json: string, isCanonical = true) {
    this.id = own.id
    this.created_at = own.created_at
    this.username = own.username
    this.system = own.system
    this.type = own.type
    this.source = own.source
    this.#json = json
    this.#isCanonical = isCanonical
  }

  get attributes(): JsonObject {
    return (this.#attributes ??= JSON.parse(this.#json) as JsonObject)
  }

  /** The attributes as JSON text: the stored text until they are read, because a reader may change them. */
  get json(): string {
    return this.#attributes ? JSON.stringify(this.#attributes) : this.#json
  }

  /** The text as `JSON.stringify` writes it, until the attributes are read; `undefined` if it was written otherwise. */
  get searchable(): string | undefined {
    return this.#attributes || !this.#isCanonical ? undefined : this.#json
  }

  /** False if the unparsed attributes have no such text. */
  mayHave(text: string): boolean {
    return this.#attributes !== undefined || this.#json.includes(text)
  }

  /** The event with the attributes as unparsed text again. Only for a reader that has not changed them. */
  withUnparsedAttributes(): LazyEvent {
    return this.#attributes ? new LazyEvent(this, this.#json, this.#isCanonical) : this
  }
}

/** The event's attributes as JSON text. */
export function attributesJson(event: AuditEvent): string {
  return event instanceof LazyEvent ? event.json : JSON.stringify(event.attributes)
}

/** The event as a plain object. */
export function plainEvent(event: AuditEvent): AuditEvent {
  return event instanceof LazyEvent ? { ...event, attributes: event.attributes } : event
}

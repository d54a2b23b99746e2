import type { JsonObject, JsonValue } from './event.js'

/**
 * Attributes of an event type that are about a person. With the option `privacy`, their values are stored encrypted, with a key of
 * the person, and become unreadable when that key is destroyed.
 */
export interface PersonalRule {
  readonly subject: {
    /** The kind of the person, such as `customer` or `user`. */
    readonly kind: string
    /** The name of the attribute that identifies the person, as in queries, or `@username` for the username of the event. Its value stays readable. */
    readonly from: string
  }
  /**
   * Names of attributes, as in queries: `request_body_address` is the member `address` of `request_body`. They also reach the
   * states of a change: `email` reaches `before.email`, `after.email` and the operations of `changes` on `/email`.
   */
  readonly attributes: readonly string[]
}

/** True if the value of one name holds that of the other. */
export const overlap = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}_`) || other.startsWith(`${one}_`)

/** The attribute in which an event keeps its encrypted values. */
export const PERSONAL = 'personal'

/** The encrypted values of one subject in an event. */
export interface SealedPart {
  /** The ref of the subject's key. */
  readonly subject: string
  /** Base64url of the nonce, the ciphertext and the tag of AES-256-GCM. */
  readonly data: string
}

const REF = /^[\w-]{22}$/
const DATA = /^[\w-]{38,}$/

const isPart = (value: JsonValue): boolean => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { subject, data } = value
  return (
    typeof subject === 'string' &&
    typeof data === 'string' &&
    Object.keys(value).length === 2 &&
    REF.test(subject) &&
    DATA.test(data)
  )
}

/** The encrypted parts of an event. A member `personal` of another shape is data of the host. */
export function sealedParts(attributes: JsonObject): readonly SealedPart[] {
  const parts = Object.hasOwn(attributes, PERSONAL) ? attributes[PERSONAL] : undefined
  if (!Array.isArray(parts) || !parts.every(isPart)) return []
  return parts as unknown as readonly SealedPart[]
}

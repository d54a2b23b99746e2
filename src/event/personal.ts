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

/** The name by which queries would reach the ciphertexts. No query finds a value there, unless an attribute has this very name. */
export const SEALED_DATA = 'personal_data'

const REF = /^[\w-]{22}$/
// A nonce of 12 bytes and a tag of 16 bytes take 38 characters.
const DATA = /^[\w-]{38,}$/

function isSealedPart(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return false
  const { subject, data } = value
  return (
    Object.keys(value).length === 2 &&
    typeof subject === 'string' &&
    typeof data === 'string' &&
    REF.test(subject) &&
    DATA.test(data)
  )
}

/**
 * The encrypted values of an event: its attribute `personal`, if that is an array of one or more sealed parts and of nothing else. `undefined`
 * for any other value, which is data of the host.
 */
export function sealedParts(attributes: JsonObject): readonly SealedPart[] | undefined {
  const parts = attributes[PERSONAL]
  if (!Array.isArray(parts) || parts.length === 0 || !Object.hasOwn(attributes, PERSONAL))
    return undefined
  return parts.every(isSealedPart) ? (parts as unknown as readonly SealedPart[]) : undefined
}

/** The attributes as queries and indexes read them: sealed parts have their refs only. Attributes without sealed parts are returned as they are. */
export function searchedAttributes(attributes: JsonObject): JsonObject {
  const parts = sealedParts(attributes)
  return parts
    ? { ...attributes, [PERSONAL]: parts.map(({ subject }) => ({ subject })) }
    : attributes
}

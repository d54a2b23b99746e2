import type { JsonObject } from './event.js'

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

// A nonce of 12 bytes and a tag of 16 bytes take 38 characters. A database may order the members.
const PARTS = /^\[(?:\{(?:"subject":"[\w-]{22}"|"data":"[\w-]{38,}"|,){3}\},?)+\]$/

/**
 * The encrypted values of an event: its attribute `personal`, if that is an array of one or more sealed parts and of nothing else. `undefined`
 * for any other value, which is data of the host.
 */
export function sealedParts(attributes: JsonObject): readonly SealedPart[] | undefined {
  const parts = Object.hasOwn(attributes, PERSONAL) && attributes[PERSONAL]
  return Array.isArray(parts) && PARTS.test(JSON.stringify(parts))
    ? (parts as unknown as readonly SealedPart[])
    : undefined
}

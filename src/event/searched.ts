import type { JsonObject } from './event.js'
import { PERSONAL, sealedParts } from './personal.js'

/** The name by which queries would reach the ciphertexts. No query finds a value there, unless an attribute has this very name. */
export const SEALED_DATA = 'personal_data'

/** The attributes as queries and indexes read them: sealed parts have their refs only. Attributes without sealed parts are returned as they are. */
export function searchedAttributes(attributes: JsonObject): JsonObject {
  const parts = sealedParts(attributes)
  return parts
    ? { ...attributes, [PERSONAL]: parts.map(({ subject }) => ({ subject })) }
    : attributes
}

/** The attributes as a condition on this name reads them. */
export const searchedBy = (name: string, attributes: JsonObject): JsonObject =>
  name === SEALED_DATA ? searchedAttributes(attributes) : attributes

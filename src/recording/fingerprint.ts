import { createHash } from 'node:crypto'
import type { EventDraft, JsonObject, JsonValue } from '../event/event.js'

/** Sorts the members of objects by name, as RFC 8785 does, so that equal values have equal text. */
function sortMembers(_key: string, value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Unlike an assignment, this makes `__proto__` an ordinary member.
  return Object.fromEntries(sorted)
}

const omit = (object: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))

/** SHA-256 in hexadecimal. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Equal for calls with the same type and equal data, in any order of its members. A repeated call may come
 * with another request, so attributes that the call did not give do not count.
 */
export function fingerprintOf({ type, attributes, added }: EventDraft): string {
  const given = added?.length ? omit(attributes, added) : attributes
  return digest(JSON.stringify([type, given], sortMembers))
}

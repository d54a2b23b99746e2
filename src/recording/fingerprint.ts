import { createHash } from 'node:crypto'
import type { EventDraft, JsonValue } from '../event/event.js'

/** Sorts the members of objects by name, as RFC 8785 does, so that equal values have equal text. */
function sortMembers(_key: string, value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Unlike an assignment, this makes `__proto__` an ordinary member.
  return Object.fromEntries(sorted)
}

/** SHA-256 in hexadecimal. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Equal for drafts with the same type and equal attributes, in any order of their members. */
export function fingerprintOf({ type, attributes }: EventDraft): string {
  return digest(JSON.stringify([type, attributes], sortMembers))
}

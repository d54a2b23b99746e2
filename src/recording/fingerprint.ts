import { createHash } from 'node:crypto'
import type { EventDraft, JsonValue } from '../event/event.js'

/** Members in an order that is the same for all that are equal, as RFC 8785 has it. */
function sortMembers(_key: string, value: JsonValue): JsonValue {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  // Unlike assignment this makes `__proto__` a member.
  return Object.fromEntries(sorted)
}

/** The SHA-256 of a text, as text. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The same for drafts of one type with equal attributes, whatever the order of their members. */
export function fingerprintOf({ type, attributes }: EventDraft): string {
  return digest(JSON.stringify([type, attributes], sortMembers))
}

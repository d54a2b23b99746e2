import type { JsonObject } from '../../src/event/event.js'

/** Parses a copy that no caller can change. Parsed strings are flat, which saves memory. */
export function parseFrozen(json: string): JsonObject {
  return deepFreeze(JSON.parse(json) as JsonObject)
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (member !== null && typeof member === 'object') deepFreeze(member as object)
  return Object.freeze(value)
}

import type { JsonObject } from '../../src/event/event.js'

/** Parsing anew gives the store a copy that nobody else can change, in flat strings. */
export function parseFrozen(json: string): JsonObject {
  return deepFreeze(JSON.parse(json) as JsonObject)
}

function deepFreeze<Value extends object>(value: Value): Value {
  for (const member of Object.values(value))
    if (member !== null && typeof member === 'object') deepFreeze(member as object)
  return Object.freeze(value)
}

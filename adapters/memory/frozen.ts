import type { JsonObject } from '../../src/event/event.js'

// The memory of fewer values in an index is negligible.
const MIN_COUNTED = 100

/** The number of values of attributes that have more than {@link MIN_COUNTED}. */
const valueCounts = new WeakMap<JsonObject, number>()

/** The number of values in parsed attributes; 0 if there are at most {@link MIN_COUNTED}. */
export const manyValuesIn = (attributes: JsonObject): number => valueCounts.get(attributes) ?? 0

/** Parses a copy that no caller can change. Parsed strings are flat, which saves memory. */
export function parseFrozen(json: string): JsonObject {
  const attributes = JSON.parse(json) as JsonObject
  const count = deepFreeze(attributes)
  if (count > MIN_COUNTED) valueCounts.set(attributes, count)
  return attributes
}

/** Returns the number of values. */
function deepFreeze(value: object): number {
  const members = Object.values(value)
  let count = members.length
  for (const member of members)
    if (member !== null && typeof member === 'object') count += deepFreeze(member as object)
  Object.freeze(value)
  return count
}

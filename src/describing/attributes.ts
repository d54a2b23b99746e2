import type { JsonObject, JsonValue } from '../event/event.js'

export type Scalar = string | number | boolean

// A sentence lists a few values only.
const MAX_VALUES = 5

/**
 * The values that filters reach by the name, a few at most: `parent_code` is the attribute of that
 * name, and `code` in `parent`. Null counts as none.
 */
export function valuesAt(attributes: JsonObject, name: string): JsonValue[] {
  const found: JsonValue[] = []
  collect(attributes, name, found)
  return found
}

function collect(value: JsonValue, name: string, found: JsonValue[]): void {
  if (value === null || typeof value !== 'object' || found.length >= MAX_VALUES) return
  if (Array.isArray(value)) {
    for (const element of value) {
      if (found.length >= MAX_VALUES) return
      collect(element, name, found)
    }
    return
  }
  if (Object.hasOwn(value, name) && value[name] !== null) found.push(value[name]!)
  // What one key alone cannot reach may be a member of another's object.
  for (let end = name.indexOf('_'); end !== -1; end = name.indexOf('_', end + 1)) {
    const key = name.slice(0, end)
    if (Object.hasOwn(value, key)) collect(value[key]!, name.slice(end + 1), found)
  }
}

/** The scalars among the values and in their arrays, a few at most. */
export function scalarsIn(values: readonly JsonValue[]): Scalar[] {
  const scalars: Scalar[] = []
  for (const value of values) {
    if (scalars.length >= MAX_VALUES) break
    if (Array.isArray(value)) scalars.push(...scalarsIn(value))
    else if (value !== null && typeof value !== 'object' && value !== '') scalars.push(value)
  }
  return scalars.slice(0, MAX_VALUES)
}

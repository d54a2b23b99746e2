import type { AuditEvent, JsonObject, JsonValue, OwnField } from '../event.js'
import { isOwnField } from '../event.js'

/** Given each JSON value that stands where a name leads to; true ends the walk. */
export type Visit = (value: JsonValue) => boolean

/** Walks to every place in an event that a name reaches; gives true as soon as a visit does. */
export type Walk = (event: AuditEvent, visit: Visit) => boolean

type Heads = readonly (readonly string[])[]

// Only these names could be found on a plain object without being its own.
const inherited = (key: string): boolean => key in Object.prototype

function member(object: JsonObject, key: string): JsonValue | undefined {
  return inherited(key) && !Object.hasOwn(object, key) ? undefined : object[key]
}

function walkObject(
  value: JsonObject | JsonValue[],
  heads: Heads,
  from: number,
  visit: Visit,
): boolean {
  if (Array.isArray(value)) {
    for (const element of value) {
      if (
        element !== null &&
        typeof element === 'object' &&
        walkObject(element, heads, from, visit)
      )
        return true
    }
    return false
  }
  const row = heads[from]!
  const last = row.length - 1
  for (let split = 0; split < last; split++) {
    const child = member(value, row[split]!)
    if (child !== undefined && child !== null && typeof child === 'object') {
      if (walkObject(child, heads, from + split + 1, visit)) return true
    }
  }
  const leaf = member(value, row[last]!)
  return leaf !== undefined && visit(leaf)
}

/**
 * The walk for an attribute's name in data without a schema. Path segments are joined by `_`, keys
 * of objects inside arrays carry no index: `parent_code` reaches `{ parent: { code } }`,
 * `{ parent_code }` and `{ parent: [{ code }, …] }`, all of them where an event has several.
 * Own fields are always the event's own.
 */
export function attributeWalk(name: string): Walk {
  if (isOwnField(name)) return ownFieldWalk(name)
  const parts = name.split('_')
  if (parts.length === 1 && !inherited(name)) {
    return (event, visit) => {
      const value = event.attributes[name]
      return value !== undefined && visit(value)
    }
  }
  // heads[i][j]: the segments i to i + j as one key.
  const heads = parts.map((_, from) =>
    parts.slice(from).map((_, length) => parts.slice(from, from + length + 1).join('_')),
  )
  return (event, visit) => walkObject(event.attributes, heads, 0, visit)
}

function ownFieldWalk(name: OwnField): Walk {
  return (event, visit) => visit(event[name])
}

export type Scalar = string | number | boolean

/** Every value at a visited place: the scalar there, or those among an array's elements. */
export function someScalar(value: JsonValue, test: (scalar: Scalar) => boolean): boolean {
  if (value === null) return false
  if (typeof value !== 'object') return test(value)
  return Array.isArray(value) && value.some((element) => someScalar(element, test))
}

/** True where the place holds more than nothing: a scalar, or an object or array with members. */
export function isPresent(value: JsonValue): boolean {
  if (value === null) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { isOwnField, type OwnField } from '../event/own-fields.js'

/** Given each JSON value that stands where a name leads to; true ends the walk. */
export type Visit = (value: JsonValue) => boolean

/** Walks to every place in an item that a name reaches; gives true as soon as the visit does. */
export type Walk<Item> = (item: Item) => boolean

export type AttributeType = 'string' | 'uuid' | 'number' | 'boolean' | 'timestamp'

/** What a list's attributes are, so far as it is known before any item is seen. */
export interface Declaration {
  readonly types: ReadonlyMap<string, AttributeType>
  /** True where items may have attributes beyond these, of any type. */
  readonly isOpen: boolean
}

/** How the names in a query lead to the values of an item. */
export interface Attributes<Item> extends Declaration {
  walk(name: string, visit: Visit): Walk<Item>
}

/** A key of an object; `isInherited` where a plain object that lacks it has one of that name too. */
interface Key {
  readonly text: string
  readonly isInherited: boolean
}

type Heads = readonly (readonly Key[])[]

const inherited = (key: string): boolean => key in Object.prototype

const keyOf = (text: string): Key => ({ text, isInherited: inherited(text) })

function member(object: JsonObject, key: Key): JsonValue | undefined {
  return key.isInherited && !Object.hasOwn(object, key.text) ? undefined : object[key.text]
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

/** The same by the keys that there are, for a name that can be split in too many ways. */
function walkKeys(
  value: JsonObject | JsonValue[],
  name: string,
  from: number,
  visit: Visit,
): boolean {
  const isReached = (child: JsonValue, at: number): boolean =>
    child !== null && typeof child === 'object' && walkKeys(child, name, at, visit)
  if (Array.isArray(value)) return value.some((element) => isReached(element, from))
  return Object.keys(value).some((key) => {
    if (!name.startsWith(key, from)) return false
    const end = from + key.length
    if (end === name.length) return visit(value[key]!)
    return name[end] === '_' && isReached(value[key]!, end + 1)
  })
}

// There are as many pairs of segments as keys to look for.
const MAX_SEGMENTS = 12

/**
 * The walk for an attribute's name in data without a schema. Path segments are joined by `_`, keys
 * of objects inside arrays carry no index: `parent_code` reaches `{ parent: { code } }`,
 * `{ parent_code }` and `{ parent: [{ code }, …] }`, all of them where an event has several.
 * Own fields are always the event's own.
 */
function eventWalk(name: string, visit: Visit): Walk<AuditEvent> {
  if (isOwnField(name)) return OWN_FIELD_WALKS[name](visit)
  const parts = name.split('_')
  if (parts.length === 1 && !inherited(name)) {
    return (event) => {
      const value = event.attributes[name]
      return value !== undefined && visit(value)
    }
  }
  if (parts.length > MAX_SEGMENTS) return (event) => walkKeys(event.attributes, name, 0, visit)
  // heads[i][j]: the segments i to i + j as one key.
  const heads = parts.map((_, from) =>
    parts.slice(from).map((_, length) => keyOf(parts.slice(from, from + length + 1).join('_'))),
  )
  return (event) => walkObject(event.attributes, heads, 0, visit)
}

// A function for each, as reading one fixed property is faster than one by name.
const OWN_FIELD_WALKS: Readonly<Record<OwnField, (visit: Visit) => Walk<AuditEvent>>> = {
  id: (visit) => (event) => visit(event.id),
  type: (visit) => (event) => visit(event.type),
  username: (visit) => (event) => visit(event.username),
  system: (visit) => (event) => visit(event.system),
  created_at: (visit) => (event) => visit(event.created_at),
}

const OWN_TYPES: Readonly<Record<OwnField, AttributeType>> = {
  id: 'uuid',
  type: 'string',
  username: 'string',
  system: 'boolean',
  created_at: 'timestamp',
}

/** Events: their own fields are declared, all else is data without a schema. */
export const eventAttributes: Attributes<AuditEvent> = {
  types: new Map(Object.entries(OWN_TYPES)),
  isOpen: true,
  walk: eventWalk,
}

export type Scalar = string | number | boolean

/** Tests values until one passes: the scalar at a visited place, or those of an array's elements. */
export function someScalar(
  value: JsonValue,
  test: (scalar: Scalar) => boolean | undefined,
): boolean {
  if (typeof value !== 'object') return test(value) === true
  return Array.isArray(value) && value.some((element) => someScalar(element, test))
}

/** True where the place holds more than nothing: a scalar, or an object or array with members. */
export function isPresent(value: JsonValue): boolean {
  if (value === null) return false
  return typeof value !== 'object' || Object.keys(value).length > 0
}

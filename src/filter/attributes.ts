import type { AuditEvent, JsonObject, JsonValue } from '../event/event.js'
import { spend, type Steps } from './steps.js'
import { isOwnField, type OwnField, SOURCE } from '../event/own-fields.js'
import { searchedAttributes, searchedBy } from '../event/searched.js'

/** Called with each JSON value that a name leads to. Returns true to end the walk. */
export type Visit = (value: JsonValue) => boolean

/** Visits every value of an item that a name leads to. Returns true as soon as the visit does. */
export type Walk<Item> = (item: Item) => boolean

export type AttributeType = 'string' | 'uuid' | 'number' | 'boolean' | 'timestamp'

/** The attributes of a list that are known before any item is read. */
export interface Declaration {
  readonly types: ReadonlyMap<string, AttributeType>
  /** True if items may have other attributes, of any type. */
  readonly isOpen: boolean
  /** Attributes that hold objects: names below them, such as `values_region`, have any type. */
  readonly objects?: ReadonlySet<string>
}

/** True if the name is declared to hold objects, or leads into such an attribute. */
export function isInObject({ objects }: Declaration, name: string): boolean {
  if (!objects) return false
  for (const object of objects) if (name === object || name.startsWith(`${object}_`)) return true
  return false
}

/** How the names in a query lead to the values of an item. */
export interface AttributeReader<Item> extends Declaration {
  walk(name: string, visit: Visit): Walk<Item>
  /** Finds the values that a walk visits, in any order. */
  valuesInSteps(item: Item, name: string): Steps<JsonValue[]>
  /** The reader of all texts but the id, whatever the name. Only for items whose texts queries may search. */
  readonly anyText?: AttributeReader<Item>
}

/** A key of an object. `isInherited`: plain objects inherit a member with this name. */
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
    spend(value.length * heads[from]!.length)
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

/** Like {@link walkObject}, but starts from the object's keys, for names with too many ways to split. */
function walkKeys(
  value: JsonObject | JsonValue[],
  name: string,
  from: number,
  visit: Visit,
): boolean {
  if (Array.isArray(value)) {
    spend(value.length)
    for (const element of value)
      if (element !== null && typeof element === 'object' && walkKeys(element, name, from, visit))
        return true
    return false
  }
  for (const key in value) {
    spend(1)
    if (!name.startsWith(key, from) || !Object.hasOwn(value, key)) continue
    const end = from + key.length
    const child = value[key]!
    if (end === name.length) {
      if (visit(child)) return true
    } else if (name[end] === '_' && child !== null && typeof child === 'object') {
      if (walkKeys(child, name, end + 1, visit)) return true
    }
  }
  return false
}

// The number of keys to look up grows with the square of the number of segments.
const MAX_SEGMENTS = 12

/**
 * The walk for a name in data without a schema. Path segments are joined by `_`, and array elements add
 * no segment: `parent_code` reaches `{ parent: { code } }`, `{ parent_code }` and
 * `{ parent: [{ code }, …] }`, and all of them if the data has several.
 */
export function pathWalk(name: string, visit: Visit): Walk<JsonObject> {
  const parts = name.split('_')
  if (parts.length === 1 && !inherited(name)) {
    return (data) => {
      const value = data[name]
      return value !== undefined && visit(value)
    }
  }
  if (parts.length > MAX_SEGMENTS) return (data) => walkKeys(data, name, 0, visit)
  // heads[i][j]: the segments i to i + j as one key.
  const heads = parts.map((_, from) =>
    parts.slice(from).map((_, length) => keyOf(parts.slice(from, from + length + 1).join('_'))),
  )
  return (data) => walkObject(data, heads, 0, visit)
}

/** Values or keys between two pauses. */
const STRIDE = 1000

/**
 * Like {@link walkKeys}, but pauses, and collects the values. It is one generator with a queue, as a generator
 * for each element would take several times as long.
 */
function* collectValues(root: JsonObject, name: string, found: JsonValue[]): Steps<void> {
  const lists: JsonValue[][] = [[root]]
  /** For each list, the place in the name at which the keys of its values begin. */
  const starts = [0]
  let seen = 0
  for (let i = 0; i < lists.length; i++) {
    const from = starts[i]!
    for (const value of lists[i]!) {
      if (++seen % STRIDE === 0) yield
      if (value === null || typeof value !== 'object') continue
      if (Array.isArray(value)) {
        lists.push(value)
        starts.push(from)
        continue
      }
      for (const key in value) {
        if (++seen % STRIDE === 0) yield
        if (!name.startsWith(key, from) || !Object.hasOwn(value, key)) continue
        const end = from + key.length
        const child = value[key]!
        if (end === name.length) found.push(child)
        else if (name[end] === '_') {
          lists.push([child])
          starts.push(end + 1)
        }
      }
    }
  }
}

/**
 * The walk for an attribute's name in events. The name of an own field always means that field; `source`
 * also reaches the event's source. No name reaches a ciphertext.
 */
function eventWalk(name: string, visit: Visit): Walk<AuditEvent> {
  if (isOwnField(name)) return OWN_FIELD_WALKS[name](visit)
  const walk = pathWalk(name, visit)
  if (name === SOURCE)
    return (event) => (event.source !== null && visit(event.source)) || walk(event.attributes)
  return (event) => walk(searchedBy(name, event.attributes))
}

// One function per field, because reading a fixed property is faster than reading one by name.
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

/** The own fields are declared, everything else is data without a schema. */
export const eventDeclaration: Declaration = {
  types: new Map(Object.entries(OWN_TYPES)),
  isOpen: true,
}

function* eventValuesInSteps(event: AuditEvent, name: string): Steps<JsonValue[]> {
  if (isOwnField(name)) return [event[name]]
  const found: JsonValue[] = []
  if (name === SOURCE && event.source !== null) found.push(event.source)
  yield* collectValues(searchedBy(name, event.attributes), name, found)
  return found
}

function* eventTextsInSteps(event: AuditEvent): Steps<JsonValue[]> {
  const found: JsonValue[] = []
  const { type, username, source } = event
  const lists: JsonValue[][] = [[type, username, source, searchedAttributes(event.attributes)]]
  let seen = 0
  for (const list of lists)
    for (const value of list) {
      if (++seen % STRIDE === 0) yield
      if (typeof value === 'string') found.push(value)
      else if (Array.isArray(value)) lists.push(value)
      else if (value !== null && typeof value === 'object') {
        const members: JsonValue[] = []
        for (const key in value) {
          if (++seen % STRIDE === 0) yield
          if (Object.hasOwn(value, key)) members.push(value[key]!)
        }
        lists.push(members)
      }
    }
  return found
}

function eventTextsWalk(visit: Visit): Walk<AuditEvent> {
  const walk = (value: JsonValue): boolean => {
    if (typeof value === 'string') return visit(value)
    if (value === null || typeof value !== 'object') return false
    if (Array.isArray(value)) {
      spend(value.length)
      return value.some(walk)
    }
    for (const key in value) {
      spend(1)
      if (Object.hasOwn(value, key) && walk(value[key]!)) return true
    }
    return false
  }
  return ({ type, username, source, attributes }) =>
    visit(type) || walk(username) || walk(source) || walk(searchedAttributes(attributes))
}

/** Leads to all texts of an event but its id and ciphertexts. */
const eventTexts: AttributeReader<AuditEvent> = {
  types: new Map(),
  isOpen: true,
  walk: (_, visit) => eventTextsWalk(visit),
  valuesInSteps: eventTextsInSteps,
}

/** Attributes of events. */
export const eventAttributes: AttributeReader<AuditEvent> = {
  ...eventDeclaration,
  walk: eventWalk,
  valuesInSteps: eventValuesInSteps,
  anyText: eventTexts,
}

export type Scalar = string | number | boolean

/** True if a scalar passes the test: the value itself, or an element if it is an array. */
export function someScalar(
  value: JsonValue,
  test: (scalar: Scalar) => boolean | undefined,
): boolean {
  if (typeof value !== 'object') return test(value) === true
  if (!Array.isArray(value)) return false
  spend(value.length)
  return value.some((element) => someScalar(element, test))
}

/** The scalars among the values, and in arrays among them; see {@link someScalar}. */
export function* scalarsInSteps(values: readonly JsonValue[]): Steps<Scalar[]> {
  const found: Scalar[] = []
  const lists = [values]
  let seen = 0
  for (const list of lists)
    for (const value of list) {
      if (++seen % STRIDE === 0) yield
      if (typeof value !== 'object') found.push(value)
      else if (Array.isArray(value)) lists.push(value)
    }
  return found
}

function hasKeys(value: JsonObject): boolean {
  for (const key in value) if (Object.hasOwn(value, key)) return true
  return false
}

/** True for an object that is not empty, and for an array with such an object. */
export function hasMembers(value: JsonValue): boolean {
  if (value === null || typeof value !== 'object') return false
  if (!Array.isArray(value)) return hasKeys(value)
  spend(value.length)
  return value.some(hasMembers)
}

/** True for a scalar, and for an object or array that is not empty. */
export function isPresent(value: JsonValue): boolean {
  if (value === null) return false
  if (typeof value !== 'object') return true
  return Array.isArray(value) ? value.length > 0 : hasKeys(value)
}

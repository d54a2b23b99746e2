import { AuditLogError } from '../errors.js'
import type { JsonObject, JsonValue } from '../event/event.js'
import { numberOrText } from '../event/exact-numbers.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import {
  type AttributeReader,
  type AttributeType,
  pathWalk,
  type Visit,
  type Walk,
} from './attributes.js'
import { type AttributeTypes, declare } from './attribute-types.js'
import { isNumberText, lowerAscii, trimAscii } from './values.js'
import { isDate } from '../event/realm.js'

/** `true` for nested data; `never` for other values, and where the type is not known. */
type Nested<Value> = unknown extends Value
  ? never
  : NonNullable<Value> extends readonly (infer Element)[]
    ? Nested<Element>
    : NonNullable<Value> extends Date | { readonly toJSON: unknown }
      ? never
      : NonNullable<Value> extends object
        ? true
        : never

/** The types of the attributes of such items: those that hold objects must be declared as `object`. */
export type ItemAttributeTypes<Item extends object> = [Item] extends [never]
  ? AttributeTypes
  : AttributeTypes & {
      readonly [
        Name in keyof Item as [Nested<Item[Name]>] extends [never] ? never : Name
      ]?: 'object'
    }

/** Reads a Date, milliseconds like those of `Date.now()`, or ISO 8601 text as microseconds. */
function readTime(value: unknown): number | undefined {
  if (typeof value === 'string') return parseTimestamp(value)
  const isTime = typeof value === 'number' || typeof value === 'bigint' || isDate(value)
  const time = isTime ? Math.round(Number(value) * 1000) : Number.NaN
  return Number.isSafeInteger(time) ? time : undefined
}

/** Converts a value to its declared type; `undefined` if that is not possible. */
const CONVERSIONS: Readonly<Record<AttributeType, (value: unknown) => JsonValue | undefined>> = {
  string(value) {
    if (typeof value === 'string') return value
    const isScalar = typeof value === 'number' || typeof value === 'bigint'
    return isScalar || typeof value === 'boolean' ? String(value) : undefined
  },
  uuid: (value) => (typeof value === 'string' ? lowerAscii(value) : undefined),
  number(value) {
    if (typeof value === 'bigint') return numberOrText(String(value))
    if (isNumberText(value)) return numberOrText(trimAscii(value))
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined
  },
  boolean(value) {
    if (typeof value === 'boolean') return value
    // SQLite stores booleans as 0 and 1.
    const bit = typeof value === 'bigint' ? Number(value) : value
    return bit === 0 || bit === 1 ? bit === 1 : undefined
  },
  timestamp(value) {
    const time = readTime(value)
    return time === undefined ? undefined : formatTimestamp(time)
  },
}

/**
 * The value of an item's attribute as the declared type; a timestamp becomes its printed form, and a number that no
 * double prints its text. A value that cannot be converted stays as it is in JSON.
 */
export function readAttribute(value: unknown, type: AttributeType): JsonValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map((element) => readAttribute(element, type))
  return CONVERSIONS[type](value) ?? readAny(value)
}

/** A value without a declared type in JSON. */
function readAny(value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'bigint') return numberOrText(String(value))
  return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue
}

/** Items with one member for each declared attribute, and nested data in those that hold objects. */
export function declaredAttributes(types: AttributeTypes): AttributeReader<object> {
  const declaration = declare(types)
  const walk = (name: string, visit: Visit): Walk<object> => {
    const type = declaration.types.get(name)
    const visitRead = (value: unknown): boolean =>
      visit(type === undefined ? readAny(value) : readAttribute(value, type))
    const below = pathWalk(name, visitRead)
    // A member with the whole name comes first, so a name is a path only where there is none.
    return (item) => {
      const value = (item as Record<string, unknown>)[name]
      return value === undefined ? below(item as JsonObject) : visitRead(value)
    }
  }
  return {
    ...declaration,
    walk,
    // In one step, because only a walk finds the inherited members of an object of the host.
    // eslint-disable-next-line require-yield
    *valuesInSteps(item, name) {
      const values: JsonValue[] = []
      const collect = walk(name, (value) => {
        values.push(value)
        return false
      })
      collect(item)
      return values
    },
  }
}

/** Reads the declared attributes of items; of a path, the first value that it leads to. */
export function attributesReader(types: AttributeTypes): (item: object) => JsonObject {
  const attributes = declaredAttributes(types)
  let value: JsonValue = null
  const keep = (read: JsonValue): boolean => {
    value = read
    return true
  }
  const names = Object.keys(types).filter((name) => name !== 'id')
  const walks = names.map((name) => [name, attributes.walk(name, keep)] as const)
  return (item) =>
    Object.fromEntries(
      walks.map(([name, walk]) => {
        value = null
        walk(item)
        return [name, value]
      }),
    )
}

/** True if the value is nested data, and not an object with a JSON form of its own, such as a Date. */
function isNested(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isNested)
  return value !== null && typeof value === 'object' && !('toJSON' in value)
}

/** Throws `INVALID_OPTION` if an item has nested data in an attribute that is not declared as `object`. */
export function checkItems(items: readonly object[], types: AttributeTypes): void {
  const scalars = Object.entries(types).filter(([, type]) => type !== 'object')
  for (const item of items) {
    const wrong = scalars.find(([name]) => isNested((item as Record<string, unknown>)[name]))
    if (!wrong) continue
    const [name, type] = wrong
    throw new AuditLogError(
      'INVALID_OPTION',
      `the attribute ${name} is declared as ${type}, but an item has an object there; declare it as object`,
    )
  }
}

import { AuditLogError } from '../errors.js'
import type { JsonValue } from '../event/event.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import type { Attributes, AttributeType, Declaration } from './attributes.js'
import { lowerAscii, readNumber } from './values.js'

/** The types of a list's attributes by name. `id` is a `string` unless it is declared. */
export type AttributeTypes = Readonly<Record<string, AttributeType>>

/** Reads a Date, milliseconds like those of `Date.now()`, or ISO 8601 text as microseconds. */
function readTime(value: unknown): number | undefined {
  if (typeof value === 'string') return parseTimestamp(value)
  const isTime = typeof value === 'number' || typeof value === 'bigint' || value instanceof Date
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
    const number = typeof value === 'string' ? readNumber(value) : value
    if (typeof number === 'bigint') return Number(number)
    return typeof number === 'number' && Number.isFinite(number) ? number : undefined
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

/** Throws `INVALID_OPTION` for an unknown type. */
export function declare(types: AttributeTypes): Declaration {
  for (const [name, type] of Object.entries(types)) {
    if (Object.hasOwn(CONVERSIONS, type)) continue
    const known = Object.keys(CONVERSIONS).join(', ')
    throw new AuditLogError(
      'INVALID_OPTION',
      `the attribute ${name} has the type ${type}; the types are ${known}`,
    )
  }
  return { types: new Map(Object.entries({ id: 'string' as const, ...types })), isOpen: false }
}

/**
 * The value of an item's attribute as the declared type; a timestamp becomes its printed form. A value
 * that cannot be converted stays as it is in JSON.
 */
export function readAttribute(value: unknown, type: AttributeType): JsonValue {
  if (value === null || value === undefined) return null
  if (Array.isArray(value)) return value.map((element) => readAttribute(element, type))
  const read = CONVERSIONS[type](value)
  if (read !== undefined) return read
  if (typeof value === 'bigint') return Number(value)
  return JSON.parse(JSON.stringify(value) ?? 'null') as JsonValue
}

/** Items with one member for each declared attribute. */
export function declaredAttributes(types: AttributeTypes): Attributes<object> {
  const declaration = declare(types)
  return {
    ...declaration,
    walk(name, visit) {
      const type = declaration.types.get(name) ?? 'string'
      return (item) => visit(readAttribute((item as Record<string, unknown>)[name], type))
    },
  }
}

import type { JsonObject, JsonValue } from './event.js'
import { isWrongOutcome } from './known-attributes.js'
import { isOwnField, OWN_FIELDS } from './own-fields.js'
import {
  budgetFor,
  Copier,
  copyPlain,
  isPlain,
  isStorableText,
  jsonPointer,
  setKey,
} from './json-copy.js'
import { cutToSize } from './json-cut.js'

/** Limits of the attributes of one event. Larger attributes are cut, and `recording` says so. */
export interface JsonLimits {
  /**
   * Depth of nested objects and arrays, 1 to 64. Deeper values become null.
   * @default 64
   */
  readonly maxDepth: number
  /**
   * Bytes of JSON text (UTF-8), at least 1024.
   * @default 1048576
   */
  readonly maxBytes: number
}

export const defaultJsonLimits: JsonLimits = { maxDepth: 64, maxBytes: 1_048_576 }

/** An attribute that is stored under another name. */
type IsTaken = (name: string, value: JsonValue) => boolean

/** The limits of an event, and whether it is a system event, in which some names have one meaning. */
export interface TextLimits extends JsonLimits {
  readonly system?: boolean | undefined
}

/** `copy`: the attributes are a copy of the data. `text`: they may be the data itself, which the host may change. */
export type Kept = 'copy' | 'text'

export interface JsonText {
  readonly attributes: JsonObject
  /** `JSON.stringify(attributes)` */
  readonly json: string
  /** The names of the attributes that were added to the data. */
  readonly added?: readonly string[] | undefined
}

// Bytes kept free for the attribute `recording`, and how many of these are not for pointers: its keys take some, and
// a longer name if the host has an attribute `recording`.
const RECORDING_RESERVE = 8192
const RECORDING_FRAME = 100

/**
 * The attributes with the members of `more` that they lack, and the names of the added ones. Copies the attributes:
 * in V8, adding a member to an object that was made by `{ ...value }` takes half a microsecond.
 */
function withMore(
  attributes: JsonObject,
  more: JsonObject | undefined,
): Pick<JsonText, 'attributes' | 'added'> {
  if (!more) return { attributes, added: undefined }
  const all: JsonObject = {}
  for (const name in attributes) setKey(all, name, attributes[name]!)
  const added: string[] = []
  for (const name in more) {
    if (Object.hasOwn(all, name)) continue
    setKey(all, name, more[name]!)
    added.push(name)
  }
  return { attributes: all, added }
}

/** The fast path, for data that is JSON already; `undefined` if anything has to be changed. */
function plainText(
  data: object,
  limits: TextLimits,
  more: JsonObject | undefined,
  keep: Kept,
): JsonText | undefined {
  try {
    const budget = budgetFor(limits.maxBytes)
    const plain =
      keep === 'copy'
        ? copyPlain(data, limits.maxDepth, budget)
        : isPlain(data, limits.maxDepth, budget)
          ? (data as JsonObject)
          : undefined
    if (!isJsonObject(plain)) return undefined
    if (OWN_FIELDS.some((name) => Object.hasOwn(plain, name))) return undefined
    if (
      limits.system &&
      Object.hasOwn(plain, 'outcome') &&
      isWrongOutcome('outcome', plain['outcome']!)
    )
      return undefined
    const { attributes, added } = withMore(plain, more)
    const json = JSON.stringify(attributes)
    // JSON.stringify escapes unstorable characters and other control characters this way.
    const fits = json.length * 3 <= limits.maxBytes && !json.includes('\\u')
    return fits ? { attributes, json, added } : undefined
  } catch {
    // A getter or a proxy threw. The copier finds out where.
    return undefined
  }
}

function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
}

/** Renames attributes whose name is taken: `type` -> `attributes_type`. */
function renameTaken(copy: JsonObject, isTaken: IsTaken, copier: Copier): JsonObject {
  if (!Object.keys(copy).some((name) => isTaken(name, copy[name]!))) return copy
  const moved: JsonObject = {}
  for (const key of Object.keys(copy)) {
    let name = key
    if (isTaken(key, copy[key]!)) {
      do name = `attributes_${name}`
      while (Object.hasOwn(copy, name))
      copier.rename(key, name)
      copier.note([name])
    }
    setKey(moved, name, copy[key]!)
  }
  return moved
}

/**
 * Converts the host's data to the one JSON value that every store receives.
 *
 * Numbers are IEEE doubles: NaN, infinities and BigInt beyond 2^53 become their text. `toJSON` is
 * called; an Error becomes its text, a Map an object, a Set an array. U+0000 and lone surrogates
 * become U+FFFD. Cycles, functions, throwing getters and values that are too deep become null.
 * Attributes with the name of an own field are renamed to `attributes_<name>`, as is a wrong `outcome` of a system
 * event. The members of `more`,
 * which must be storable, are added if the data does not have them. The attribute
 * `recording` lists the changes: `{ replaced: [JSON Pointer, …], cut_bytes }` (at most 50 pointers).
 * Never throws.
 */
export function toJsonText(
  data: object,
  limits: TextLimits = defaultJsonLimits,
  more?: JsonObject,
  keep: Kept = 'copy',
): JsonText {
  return plainText(data, limits, more, keep) ?? changedText(data, limits, more)
}

/** The slow path: notes every change. */
function changedText(data: object, limits: TextLimits, more: JsonObject | undefined): JsonText {
  const copier = new Copier(limits.maxDepth, budgetFor(limits.maxBytes))
  const copy = copier.copy(data)
  if (!isJsonObject(copy) && copier.replaced.length === 0) copier.note([])
  const isTaken: IsTaken = limits.system
    ? (name, value) => isOwnField(name) || isWrongOutcome(name, value)
    : isOwnField
  const given = renameTaken(isJsonObject(copy) ? copy : {}, isTaken, copier)
  const { attributes: all, added } = withMore(given, more)
  let attributes = all
  const reserve = Math.min(RECORDING_RESERVE, limits.maxBytes >> 2)
  const room = limits.maxBytes - reserve
  let json = JSON.stringify(attributes)
  const bytes = Buffer.byteLength(json)
  if (bytes > (copier.replaced.length > 0 ? room : limits.maxBytes))
    json = cutToSize(attributes, room, copier)
  if (copier.replaced.length === 0) return { attributes, json, added }
  attributes = renameTaken(attributes, (name) => name === 'recording', copier)
  attributes['recording'] = {
    replaced: upToSize(copier.replaced, reserve - RECORDING_FRAME),
    cut_bytes: bytes - Buffer.byteLength(json),
  }
  return { attributes, json: JSON.stringify(attributes), added }
}

/** The pointers that fit into this many bytes. */
function upToSize(pointers: readonly string[], maxBytes: number): string[] {
  let bytes = 0
  return pointers.filter(
    (pointer) => (bytes += Buffer.byteLength(JSON.stringify(pointer)) + 1) <= maxBytes,
  )
}

/**
 * The first place in a parsed document that {@link toJsonText} would change, with the reason;
 * `undefined` if there is none.
 */
export function findUnstorable(
  value: JsonValue,
  maxDepth: number,
  path: readonly string[] = [],
): { pointer: string; reason: string } | undefined {
  const fault = (reason: string, at = path): { pointer: string; reason: string } => ({
    pointer: jsonPointer(at),
    reason,
  })
  if (typeof value === 'string' && !isStorableText(value))
    return fault('contains U+0000 or half of a surrogate pair')
  if (typeof value === 'number' && !Number.isFinite(value))
    return fault('is too large for a number')
  if (value === null || typeof value !== 'object') return undefined
  if (path.length >= maxDepth) return fault(`is nested deeper than ${maxDepth} levels`)
  for (const key of Object.keys(value)) {
    const at = [...path, key]
    if (!isStorableText(key)) return fault('has a name with U+0000 or half of a surrogate pair', at)
    const found = findUnstorable((value as JsonObject)[key]!, maxDepth, at)
    if (found) return found
  }
  return undefined
}

import { isOwnField, type JsonObject, type JsonValue } from './event.js'

/** How large the attributes of one event may be; what goes beyond is cut and told. */
export interface JsonLimits {
  /**
   * Deepest nesting of objects and arrays, 1 to 64; what lies deeper becomes null.
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

export interface JsonText {
  readonly attributes: JsonObject
  /** `JSON.stringify(attributes)` */
  readonly json: string
}

// Of what was changed, this many places are listed, each pointer at most this long.
const MAX_POINTERS = 50
const MAX_POINTER_LENGTH = 120
const RECORDING_RESERVE = 8192

/** RFC 6901. */
export function jsonPointer(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const UNSTORABLE = /[\0\p{Surrogate}]/gu

/** True for text that every store keeps as it is: no U+0000 (Postgres) and no lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

export function storableText(text: string): string {
  return isStorableText(text) ? text : text.replace(UNSTORABLE, '\uFFFD')
}

/** Sets also the key `__proto__`, which plain assignment would take for the prototype. */
function setKey(target: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else target[key] = value
}

/** One walk over a value of the host's: the copy that is JSON, and where it differs. */
class Copier {
  readonly replaced: string[] = []
  private readonly path: string[] = []
  private readonly ancestors: object[] = []
  private readonly maxDepth: number

  constructor(maxDepth: number) {
    this.maxDepth = maxDepth
  }

  copy(value: unknown): JsonValue {
    switch (typeof value) {
      case 'string':
        if (isStorableText(value)) return value
        return this.replace(storableText(value))
      case 'number':
        if (Number.isFinite(value)) return value === 0 ? 0 : value
        return this.replace(String(value))
      case 'boolean':
        return value
      case 'bigint':
        if (value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER)
          return Number(value)
        return this.replace(String(value))
      case 'object':
        return value === null ? null : this.copyObject(value)
      default:
        return this.replace(null)
    }
  }

  private copyObject(value: object): JsonValue {
    if (this.ancestors.length >= this.maxDepth || this.ancestors.includes(value))
      return this.replace(null)
    this.ancestors.push(value)
    try {
      if (Array.isArray(value)) return value.map((_, index) => this.copyMember(value, index))
      if ('toJSON' in value && typeof value.toJSON === 'function')
        return this.copy(value.toJSON(this.path.at(-1) ?? ''))
      // What JSON.stringify would empty to `{}`, and an audit log must not.
      if (value instanceof Error) return this.copy(String(value))
      if (value instanceof Map) return this.copyMembers(Object.fromEntries(value))
      if (value instanceof Set) return this.copy([...value])
      return this.copyMembers(value)
    } catch {
      return this.replace(null)
    } finally {
      this.ancestors.pop()
    }
  }

  private copyMembers(value: object): JsonObject {
    const copy: JsonObject = {}
    for (const key of Object.keys(value)) {
      const member = this.copyMember(value, key)
      if (member === undefined) continue
      const name = storableText(key)
      if (name !== key) this.note([...this.path, name])
      setKey(copy, name, member)
    }
    return copy
  }

  private copyMember(holder: object, key: string | number): JsonValue
  private copyMember(holder: object, key: string): JsonValue | undefined
  private copyMember(holder: object, key: string | number): JsonValue | undefined {
    this.path.push(String(key))
    try {
      const member: unknown = (holder as Record<string | number, unknown>)[key]
      // An absent member, as in JSON; in an array it would shift the others.
      if (member === undefined && typeof key === 'string') return undefined
      return this.copy(member)
    } catch {
      return this.replace(null)
    } finally {
      this.path.pop()
    }
  }

  private replace(value: JsonValue): JsonValue {
    this.note(this.path)
    return value
  }

  note(path: readonly string[]): void {
    if (this.replaced.length < MAX_POINTERS)
      this.replaced.push(storableText(jsonPointer(path).slice(0, MAX_POINTER_LENGTH)))
  }
}

/** Own fields' names, and a `recording` that is not ours, make room: `type` -> `attributes_type`. */
function setAside(
  copy: JsonObject,
  isTaken: (name: string) => boolean,
  copier: Copier,
): JsonObject {
  if (!Object.keys(copy).some(isTaken)) return copy
  const moved: JsonObject = {}
  for (const key of Object.keys(copy)) {
    let name = key
    if (isTaken(key)) {
      do name = `attributes_${name}`
      while (Object.hasOwn(copy, name))
      copier.note([name])
    }
    setKey(moved, name, copy[key]!)
  }
  return moved
}

interface StringLeaf {
  readonly holder: JsonObject | JsonValue[]
  readonly key: string | number
  readonly path: readonly string[]
  readonly bytes: number
}

function stringLeaves(value: JsonValue, path: readonly string[], found: StringLeaf[]): void {
  if (value === null || typeof value !== 'object') return
  for (const key of Object.keys(value)) {
    const holder = value as JsonObject
    const member = holder[key]!
    if (typeof member === 'string')
      found.push({ holder, key, path: [...path, key], bytes: Buffer.byteLength(member) })
    else stringLeaves(member, [...path, key], found)
  }
}

/** The first `bytes` bytes of the text, whole characters only. */
export function cutText(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  return Buffer.from(text)
    .subarray(0, bytes)
    .toString('utf8')
    .replace(/\uFFFD+$/u, '')
}

/**
 * Cuts in place until the JSON text fits: first the longest texts, all to the same length, so that
 * the short attributes one searches by survive; then whole attributes, the largest first.
 */
function cutToSize(attributes: JsonObject, maxBytes: number, copier: Copier): string {
  const noted = new Set<string>()
  const note = (path: readonly string[]): void => {
    const pointer = jsonPointer(path)
    if (!noted.has(pointer)) copier.note(path)
    noted.add(pointer)
  }
  const leaves: StringLeaf[] = []
  stringLeaves(attributes, [], leaves)
  leaves.sort((a, b) => b.bytes - a.bytes)
  let json = JSON.stringify(attributes)
  for (
    let cap = maxBytes;
    cap >= 64 && Buffer.byteLength(json) > maxBytes;
    cap = Math.floor(cap / 2)
  ) {
    for (const leaf of leaves) {
      if (leaf.bytes <= cap) break
      const holder = leaf.holder as Record<string | number, string>
      holder[leaf.key] = cutText(holder[leaf.key]!, cap)
      note(leaf.path)
    }
    json = JSON.stringify(attributes)
  }
  if (Buffer.byteLength(json) <= maxBytes) return json
  const sizes = Object.keys(attributes)
    .map((key) => ({
      key,
      bytes: JSON.stringify(key).length + JSON.stringify(attributes[key]).length,
    }))
    .toSorted((a, b) => b.bytes - a.bytes)
  for (const { key } of sizes) {
    if (Buffer.byteLength(json) <= maxBytes) break
    // A name can be what is too long: then the member goes with it.
    if (key.length > 1024) delete attributes[key]
    else setKey(attributes, key, null)
    note([key])
    json = JSON.stringify(attributes)
  }
  return json
}

/**
 * The one JSON value that every store is given for the host's data.
 *
 * Numbers are IEEE doubles: NaN, infinities and BigInt beyond 2^53 become their text. `toJSON` is
 * honoured; an Error becomes its text, a Map an object, a Set an array. U+0000 and lone surrogates
 * become U+FFFD; cycles, functions, throwing getters and what lies too deep become null. Own
 * fields' names are kept as `attributes_<name>`. Whatever was changed so is listed in the attribute
 * `recording`: `{ replaced: [JSON Pointer, …], cut_bytes }` (at most 50 pointers). Never throws.
 */
export function toJsonText(data: object, limits: JsonLimits = defaultJsonLimits): JsonText {
  const copier = new Copier(limits.maxDepth)
  const copy = copier.copy(data)
  let attributes: JsonObject =
    copy !== null && typeof copy === 'object' && !Array.isArray(copy) ? copy : {}
  attributes = setAside(attributes, isOwnField, copier)
  let json = JSON.stringify(attributes)
  let cut = 0
  // UTF-8 takes at most three bytes for each UTF-16 unit.
  if (json.length * 3 > limits.maxBytes) {
    const bytes = Buffer.byteLength(json)
    if (bytes > limits.maxBytes) {
      const room = limits.maxBytes - Math.min(RECORDING_RESERVE, limits.maxBytes >> 2)
      json = cutToSize(attributes, room, copier)
      cut = bytes - Buffer.byteLength(json)
    }
  }
  if (copier.replaced.length === 0) return { attributes, json }
  attributes = setAside(attributes, (name) => name === 'recording', copier)
  attributes['recording'] = { replaced: copier.replaced, cut_bytes: cut }
  return { attributes, json: JSON.stringify(attributes) }
}

/**
 * What {@link toJsonText} would change in an already parsed document, as the pointer to the first
 * such place and the reason; `undefined` where it would keep everything.
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
    return fault('holds U+0000 or half of a surrogate pair')
  if (typeof value === 'number' && !Number.isFinite(value))
    return fault('is too large for a number')
  if (value === null || typeof value !== 'object') return undefined
  if (path.length >= maxDepth) return fault(`lies deeper than ${maxDepth} levels`)
  for (const key of Object.keys(value)) {
    const at = [...path, key]
    if (!isStorableText(key)) return fault('has a name with U+0000 or half of a surrogate pair', at)
    const found = findUnstorable((value as JsonObject)[key]!, maxDepth, at)
    if (found) return found
  }
  return undefined
}

import type { JsonObject, JsonValue } from './event.js'
import { isBoxed, isError, isMap, isSet, textWithCauses } from './realm.js'
import { NumberText } from './exact-numbers.js'

// Limits of the list of changed places.
const MAX_POINTERS = 50
const MAX_POINTER_LENGTH = 120

/** RFC 6901. */
export function jsonPointer(path: readonly string[]): string {
  return path.map((key) => `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const NO_MEMBERS = {}

const UNSTORABLE = /[\0\p{Surrogate}]/gu

/** True for text that every store can keep unchanged: no U+0000 (Postgres) and no lone surrogate. */
export function isStorableText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

export function storableText(text: string): string {
  return isStorableText(text) ? text : text.replace(UNSTORABLE, '\uFFFD')
}

/**
 * Sets a key of any name. An assignment to `__proto__` would set the prototype, and one to a name such as `toString`
 * fails if the host has frozen the prototype.
 */
export function setKey(target: JsonObject, key: string, value: JsonValue): void {
  if (key in NO_MEMBERS) {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else target[key] = value
}

/**
 * How many more values a copy may visit. An object can be referenced many times, so a small structure
 * can be a huge text. The budget stops before visiting what would be cut anyway.
 */
export interface Budget {
  values: number
}

const MIN_BUDGET = 65_536

/** Every value takes at least two bytes of text. */
export const budgetFor = (maxBytes: number): Budget => ({
  values: Math.max(maxBytes >> 1, MIN_BUDGET),
})

/** True if the prototype of all objects has members that `for … in` visits. */
function isPrototypeExtended(): boolean {
  for (const _ in NO_MEMBERS) return true
  return false
}

/**
 * Copies a value that is JSON already, as most are, without checking its texts; `undefined` for any
 * other value, which needs a {@link Copier}.
 */
export const copyPlain = (
  value: unknown,
  maxDepth: number,
  budget: Budget,
): JsonValue | undefined =>
  isPrototypeExtended() ? undefined : copyPlainValue(value, maxDepth, budget)

/** Compares types one by one: V8 calls a function for `switch (typeof value)`. */
function copyPlainValue(value: unknown, maxDepth: number, budget: Budget): JsonValue | undefined {
  if (budget.values-- <= 0) return undefined
  if (typeof value === 'object') {
    if (value === null) return null
    return maxDepth === 0 ? undefined : copyPlainObject(value, maxDepth - 1, budget)
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number')
    return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
  return undefined
}

function copyPlainObject(value: object, maxDepth: number, budget: Budget): JsonValue | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype)
    return copyPlainArray(value as readonly unknown[], maxDepth, budget)
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const copy: JsonObject = {}
  for (const key in value) {
    // An assignment would set the prototype.
    if (key === '__proto__') return undefined
    const member = copyPlainValue((value as JsonObject)[key], maxDepth, budget)
    if (member === undefined) return undefined
    copy[key] = member
  }
  return copy
}

function copyPlainArray(
  value: readonly unknown[],
  maxDepth: number,
  budget: Budget,
): JsonValue[] | undefined {
  if ('toJSON' in value || value.length > budget.values) return undefined
  // A hole reads as undefined, which is not JSON.
  const copy = value.slice()
  for (let i = 0; i < copy.length; i++) {
    const member = copyPlainValue(copy[i], maxDepth, budget)
    if (member === undefined) return undefined
    copy[i] = member
  }
  return copy as JsonValue[]
}

/**
 * True for a value that `JSON.stringify` writes as {@link copyPlain} copies it. A getter that returns another value each
 * time may deceive it.
 */
export const isPlain = (value: unknown, maxDepth: number, budget: Budget): boolean =>
  !isPrototypeExtended() && isPlainValue(value, maxDepth, budget)

function isPlainValue(value: unknown, maxDepth: number, budget: Budget): boolean {
  if (budget.values-- <= 0) return false
  if (typeof value === 'object')
    return value === null || (maxDepth > 0 && isPlainObject(value, maxDepth - 1, budget))
  if (typeof value === 'string' || typeof value === 'boolean') return true
  return typeof value === 'number' && Number.isFinite(value) && !Object.is(value, -0)
}

function isPlainObject(value: object, maxDepth: number, budget: Budget): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if ('toJSON' in value) return false
  if (prototype === Array.prototype) {
    const elements = value as readonly unknown[]
    if (elements.length > budget.values) return false
    for (let i = 0; i < elements.length; i++)
      if (!isPlainValue(elements[i], maxDepth, budget)) return false
    return true
  }
  if (prototype !== Object.prototype && prototype !== null) return false
  for (const key in value)
    if (!isPlainValue((value as JsonObject)[key], maxDepth, budget)) return false
  return true
}

/** Copies a value of the host as JSON, and notes where the copy differs. */
export class Copier {
  readonly replaced: string[] = []
  private readonly path: string[] = []
  private readonly ancestors: object[] = []
  private readonly maxDepth: number
  private readonly budget: Budget

  constructor(maxDepth: number, budget: Budget) {
    this.maxDepth = maxDepth
    this.budget = budget
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
    try {
      if (value instanceof NumberText) return this.replace(value.text)
      const written = this.written(value)
      if (written === null || typeof written !== 'object') return this.copy(written)
      if (this.ancestors.length >= this.maxDepth || this.ancestors.includes(value))
        return this.replace(null)
      this.ancestors.push(value)
      try {
        return Array.isArray(written) ? this.copyElements(written) : this.copyMembers(written)
      } finally {
        this.ancestors.pop()
      }
    } catch {
      return this.replace(null)
    }
  }

  /** The value that JSON.stringify would write, but with contents where it would write only `{}`. */
  private written(value: object): unknown {
    let written: unknown = value
    if ('toJSON' in value && typeof value.toJSON === 'function')
      written = value.toJSON(this.path.at(-1) ?? '')
    if (written === null || typeof written !== 'object') return written
    if (isError(written)) return textWithCauses(written, String)
    if (isMap(written)) return Object.fromEntries(written)
    if (isSet(written)) return [...written]
    return isBoxed(written) ? written.valueOf() : written
  }

  private copyElements(value: readonly unknown[]): JsonValue[] {
    const copy: JsonValue[] = []
    for (let index = 0; index < value.length && !this.isSpent(); index++)
      copy.push(this.copyMember(value, index))
    return copy
  }

  private copyMembers(value: object): JsonObject {
    const copy: JsonObject = {}
    for (const key of Object.keys(value)) {
      if (this.isSpent()) break
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
      // JSON leaves out undefined members. In an array that would shift the other elements.
      if (member === undefined && typeof key === 'string') return undefined
      return this.copy(member)
    } catch {
      return this.replace(null)
    } finally {
      this.path.pop()
    }
  }

  /** True once the budget is spent. The rest of the container is then left out, and noted. */
  private isSpent(): boolean {
    if (this.budget.values-- > 0) return false
    this.note(this.path)
    return true
  }

  private replace(value: JsonValue): JsonValue {
    this.note(this.path)
    return value
  }

  /** Updates the noted places within a renamed member. */
  rename(from: string, to: string): void {
    const [old, pointer] = [jsonPointer([from]), jsonPointer([to])]
    const isWithin = (place: string): boolean => place === old || place.startsWith(`${old}/`)
    for (const [i, place] of this.replaced.entries())
      if (isWithin(place)) this.replaced[i] = pointer + place.slice(old.length)
  }

  note(path: readonly string[]): void {
    if (this.replaced.length < MAX_POINTERS)
      this.replaced.push(storableText(jsonPointer(path).slice(0, MAX_POINTER_LENGTH)))
  }
}

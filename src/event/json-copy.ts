import type { JsonObject, JsonValue } from './event.js'

// Of what was changed, this many places are listed, each pointer at most this long.
const MAX_POINTERS = 50
const MAX_POINTER_LENGTH = 120

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
export function setKey(target: JsonObject, key: string, value: JsonValue): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  } else target[key] = value
}

/**
 * How many values a walk may still visit. One object can be reached by any number of ways, so that
 * a small structure may be an endless text; what is cut anyway need not be walked first.
 */
export interface Budget {
  values: number
}

const MIN_BUDGET = 65_536

/** A value takes two bytes of text or more. */
export const budgetFor = (maxBytes: number): Budget => ({
  values: Math.max(maxBytes >> 1, MIN_BUDGET),
})

/**
 * The copy of a value that is JSON as it stands but for its texts, which are not looked at, as
 * nearly all values are; `undefined` for any other, which takes a {@link Copier}. Objects are cloned
 * first and checked then, which takes half the time of copying member by member.
 */
export function copyPlain(value: unknown, maxDepth: number, budget: Budget): JsonValue | undefined {
  if (budget.values-- <= 0) return undefined
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : undefined
    case 'object':
      if (value === null) return null
      return maxDepth === 0 ? undefined : copyPlainObject(value, maxDepth - 1, budget)
    default:
      return undefined
  }
}

function copyPlainObject(value: object, maxDepth: number, budget: Budget): JsonValue | undefined {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Array.prototype) {
    if ('toJSON' in value || (value as unknown[]).length > budget.values) return undefined
    // A hole reads as undefined, which is not JSON.
    const copy = (value as unknown[]).slice()
    for (let i = 0; i < copy.length; i++) {
      const member = copyPlain(copy[i], maxDepth, budget)
      if (member === undefined) return undefined
      copy[i] = member
    }
    return copy as JsonValue[]
  }
  if (prototype !== Object.prototype && prototype !== null) return undefined
  const copy: Record<string, unknown> = { ...value }
  for (const key in copy) {
    const member = copyPlain(copy[key], maxDepth, budget)
    if (member === undefined) return undefined
    if (member !== copy[key]) copy[key] = member
  }
  return copy as JsonObject
}

/** One walk over a value of the host's: the copy that is JSON, and where it differs. */
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

  /** What JSON.stringify would write, but for what it would empty to `{}` and a log must not. */
  private written(value: object): unknown {
    let written: unknown = value
    if ('toJSON' in value && typeof value.toJSON === 'function')
      written = value.toJSON(this.path.at(-1) ?? '')
    if (written instanceof Error) return String(written)
    if (written instanceof Map) return Object.fromEntries(written)
    if (written instanceof Set) return [...written]
    for (const Box of [Number, String, Boolean])
      if (written instanceof Box) return written.valueOf()
    return written
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
      // An absent member, as in JSON; in an array it would shift the others.
      if (member === undefined && typeof key === 'string') return undefined
      return this.copy(member)
    } catch {
      return this.replace(null)
    } finally {
      this.path.pop()
    }
  }

  /** Once the budget is spent, what is left of a container is left out, and told. */
  private isSpent(): boolean {
    if (this.budget.values-- > 0) return false
    this.note(this.path)
    return true
  }

  private replace(value: JsonValue): JsonValue {
    this.note(this.path)
    return value
  }

  /** Places within a member that has been given another name are told by the new one. */
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

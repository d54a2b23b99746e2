import { Blob } from 'node:buffer'
import type { JsonValue } from './event.js'
import { setKey } from './json-copy.js'
import { type IsSecret, isSensitive } from './secrets.js'

export const REDACTED = '[redacted]'

/** Deeper than the limit of events, so that the event's own limit applies and is recorded. */
const MAX_DEPTH = 100

export interface RedactedCopy {
  /** `undefined` if nothing of the value fits. */
  readonly copy: unknown
  /** Whether anything was cut or left out for its size. */
  readonly isCut: boolean
}

/** Replaces a value that is not plain data with a description of it. */
function asData(value: object): unknown {
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return { bytes: value.byteLength }
  if (value instanceof Blob) {
    const { name } = value as { name?: unknown }
    return { ...(name !== undefined && { name }), type: value.type, bytes: value.size }
  }
  const { toJSON, pipe, getReader } = value as Readonly<Record<string, unknown>>
  if (typeof pipe === 'function' || typeof getReader === 'function') return { stream: true }
  if (typeof toJSON === 'function') return toJSON.call(value, '')
  if (value instanceof Error) return String(value)
  if (value instanceof Map) return Object.fromEntries(value)
  return value instanceof Set ? [...value] : value
}

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text))

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00

/** The beginning of the text in at most `maxBytes` bytes of JSON text. */
function cutJsonText(text: string, maxBytes: number): string {
  let cut = text
  for (let bytes = bytesOf(cut); bytes > maxBytes && cut !== ''; bytes = bytesOf(cut)) {
    // Characters have different sizes and some are escaped, so this may take several rounds.
    let units = Math.max(0, Math.floor((cut.length * (maxBytes - 2)) / bytes))
    if (isHighSurrogate(cut.charCodeAt(units - 1))) units--
    cut = cut.slice(0, units)
  }
  return cut
}

const LEFT_OUT = Symbol('left out')

function copyWithin(
  value: unknown,
  at: readonly string[],
  isSecret: IsSecret,
  maxBytes: number,
  isFair: boolean,
): RedactedCopy {
  const path = [...at]
  const holders: object[] = []
  let used = 0
  let isCut = false

  const take = <Value>(value: Value, bytes: number, end: number): Value | typeof LEFT_OUT => {
    if (used + bytes > end) return LEFT_OUT
    used += bytes
    return value
  }

  const text = (value: string, end: number): unknown => {
    if (end === Infinity) return value
    const cut = cutJsonText(value, end - used)
    if (cut === value) return take(value, bytesOf(value), end)
    isCut = true
    return cut === '' ? LEFT_OUT : take(cut, bytesOf(cut), end)
  }

  /** Copies the members that fit. Each may take the rest of the room, or half of it with `isFair`. */
  const members = (keys: Iterable<string>, holder: object, end: number): object => {
    const isList = Array.isArray(holder)
    const elements: unknown[] = []
    const copy = {}
    for (const key of keys) {
      const before = used
      used += isList ? 1 : bytesOf(key) + 2
      path.push(key)
      const member = used > end ? LEFT_OUT : memberOf(holder, key, end)
      path.pop()
      if (member === LEFT_OUT) {
        used = before
        isCut = true
        break
      }
      if (isList) elements.push(member)
      else setKey(copy, key, member as JsonValue)
    }
    return isList ? elements : copy
  }

  const memberOf = (holder: object, key: string, end: number): unknown => {
    const limit = isFair ? used + ((end - used) >> 1) : end
    if (isSecret(path)) return take(REDACTED, REDACTED.length + 2, limit)
    try {
      return copyOf((holder as Readonly<Record<string, unknown>>)[key], limit)
    } catch {
      // A getter or a proxy threw.
      return take(null, 4, limit)
    }
  }

  const object = (value: object, end: number): unknown => {
    const data = asData(value)
    if (data === null || typeof data !== 'object') return copyOf(data, end)
    if (holders.length === MAX_DEPTH || holders.includes(value)) return take(null, 4, end)
    const keys = Array.isArray(data) ? indexes(data) : Object.keys(data)
    if (take(true, 2, end) === LEFT_OUT) return LEFT_OUT
    holders.push(value)
    try {
      return members(keys, data, end)
    } finally {
      holders.pop()
    }
  }

  const copyOf = (value: unknown, end: number): unknown => {
    if (typeof value === 'string') return text(value, end)
    if (value !== null && typeof value === 'object') return object(value, end)
    // Other values, such as functions, become null.
    const isWritten = typeof value === 'number' || typeof value === 'bigint'
    return take(value, isWritten ? String(value).length : 5, end)
  }

  try {
    const copy = path.length > 0 && isSecret(path) ? REDACTED : copyOf(value, maxBytes)
    return copy === LEFT_OUT ? { copy: undefined, isCut: true } : { copy, isCut }
  } catch {
    return { copy: null, isCut }
  }
}

/** A generator, because a sparse array can be longer than a list of its indexes may be. */
function* indexes({ length }: readonly unknown[]): Generator<string> {
  for (let i = 0; i < length; i++) yield String(i)
}

/**
 * Copies the value at a path with secrets replaced by `[redacted]`, in at most `maxBytes` bytes of JSON
 * text. If it is larger, long texts are cut and the last members are left out; each member takes at
 * most half of the bytes that remain after the members before it. Bytes, files and streams are
 * replaced by a description. Cycles, unreadable values and values that are too deep become null. Never throws.
 */
export function redactWithin(
  value: unknown,
  path: readonly string[],
  isSecret: IsSecret,
  maxBytes: number,
): RedactedCopy {
  const whole = copyWithin(value, path, isSecret, maxBytes, false)
  return whole.isCut ? copyWithin(value, path, isSecret, maxBytes, true) : whole
}

const isSecretByDefault: IsSecret = (path) => isSensitive(path.at(-1) ?? '')

/**
 * A copy in which the value of every key that names a password, token, secret, cookie or the like, at
 * any depth, is `[redacted]`. Without `maxBytes` the value should be a tree, because an object in two
 * places is copied twice.
 */
export function redact(value: unknown, maxBytes = Infinity): unknown {
  return redactWithin(value, [], isSecretByDefault, maxBytes).copy
}

/** Like {@link redact}, for the value at a path of keys. */
export function redactAt(path: readonly string[], value: unknown): unknown {
  return path.some(isSensitive) ? REDACTED : redact(value)
}

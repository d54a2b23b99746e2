import { Blob } from 'node:buffer'
import type { JsonValue } from './event.js'
import { jsonPointer, setKey } from './json-copy.js'
import { isError, isMap, isSet, textWithCauses } from './realm.js'
import { redactText } from './secret-values.js'
import { type IsSecret, pairRole, PAIRS, REDACTED } from './secrets.js'

/** Deeper than the limit of events, so that the event's own limit applies and is recorded. */
const MAX_DEPTH = 100

export interface RedactedCopy {
  /** `undefined` if nothing of the value fits. */
  readonly copy: unknown
  /** True if anything was cut or left out for its size. */
  readonly isCut: boolean
  /** JSON Pointers of the values that are not shown or not shown whole, at most 50. */
  readonly redacted: readonly string[]
}

const MAX_POINTERS = 50

export interface CopyOptions {
  /** Where the value is, for `isSecret`. */
  readonly path: readonly string[]
  readonly isSecret: IsSecret
  /** True if each member may take only half of the bytes that remain. Otherwise it may take all. */
  readonly isFair: boolean
}

/** The copying of one value. */
interface CopyState {
  readonly isSecret: IsSecret
  readonly isFair: boolean
  /** The path of the value that is being copied. */
  readonly path: string[]
  /** The objects that contain this value, from the outermost. */
  readonly holders: object[]
  /** Bytes of JSON text so far. The functions below get the limit as `end`. */
  used: number
  isCut: boolean
  readonly redacted: string[]
}

const LEFT_OUT = Symbol('left out')

/** Copies the value with secrets replaced, in at most `maxBytes` bytes of JSON text. Never throws. */
export function copyWithin(value: unknown, maxBytes: number, options: CopyOptions): RedactedCopy {
  const { path, isSecret, isFair } = options
  const state: CopyState = {
    isSecret,
    isFair,
    path: [...path],
    holders: [],
    used: 0,
    isCut: false,
    redacted: [],
  }
  const { redacted } = state
  try {
    const copy = path.length > 0 && isSecret(path) ? REDACTED : copyValue(state, value, maxBytes)
    return copy === LEFT_OUT
      ? { copy: undefined, isCut: true, redacted }
      : { copy, isCut: state.isCut, redacted }
  } catch {
    return { copy: null, isCut: state.isCut, redacted }
  }
}

function noteRedacted({ path, redacted }: CopyState): void {
  if (redacted.length < MAX_POINTERS) redacted.push(jsonPointer(path.map(redactText)))
}

function copyValue(state: CopyState, value: unknown, end: number): unknown {
  if (typeof value === 'string') return copyText(state, value, end)
  if (value !== null && typeof value === 'object') return copyObject(state, value, end)
  // Other values, such as functions, become null.
  const isWritten = typeof value === 'number' || typeof value === 'bigint'
  return take(state, value, isWritten ? String(value).length : 5, end)
}

function copyText(state: CopyState, text: string, end: number): unknown {
  // Before the text is cut: half of a secret is not recognisable.
  const value = redactText(text)
  if (value !== text) noteRedacted(state)
  if (end === Infinity) return value
  const cut = cutJsonText(value, end - state.used)
  if (cut === value) return take(state, value, bytesOf(value), end)
  state.isCut = true
  return cut === '' ? LEFT_OUT : take(state, cut, bytesOf(cut), end)
}

function copyObject(state: CopyState, value: object, end: number): unknown {
  const { holders } = state
  const data = asData(value)
  if (data === null || typeof data !== 'object') return copyValue(state, data, end)
  if (holders.length === MAX_DEPTH || holders.includes(value)) return take(state, null, 4, end)
  const keys = Array.isArray(data) ? indexes(data) : Object.keys(data)
  if (take(state, true, 2, end) === LEFT_OUT) return LEFT_OUT
  holders.push(value)
  try {
    return copyMembers(state, keys, data, end)
  } finally {
    holders.pop()
  }
}

/** Returns true for members that are values of secret keys beside them; `undefined` if there are none. */
type IsPaired = ((key: string) => boolean) | undefined

const MAX_NAME = 200

/** True if a text of the data is the key of a secret. */
const isSecretText = ({ isSecret, path }: CopyState, text: unknown): boolean =>
  typeof text === 'string' && text.length <= MAX_NAME && isSecret([...path, text])

/** `undefined` if it cannot be read. */
function readMember(holder: object, key: string): unknown {
  try {
    return (holder as Readonly<Record<string, unknown>>)[key]
  } catch {
    return undefined
  }
}

/** The members of `{ name: 'password', value: '…' }` and its like. */
function pairedMember(state: CopyState, keys: readonly string[], holder: object): IsPaired {
  let all = 0
  for (const key of keys) all |= pairRole(key)
  const complete = all & (all >> PAIRS.length)
  if (complete === 0) return undefined
  let secret = 0
  for (const key of keys) {
    const named = pairRole(key) & complete
    if (named === 0) continue
    const text = readMember(holder, key)
    // Only the last part of a path.
    if (isSecretText(state, typeof text === 'string' ? text.slice(lastPart(text)) : text))
      secret |= named
  }
  return secret === 0 ? undefined : (key) => ((pairRole(key) >> PAIRS.length) & secret) !== 0
}

const lastPart = (text: string): number =>
  Math.max(text.lastIndexOf('/', text.length - 2), text.lastIndexOf('.', text.length - 2)) + 1

const FLAG = /^--?[a-z][\w-]{1,40}$/i
const RAW_HEADERS = /^raw_?(?:headers|trailers)$/i

/** The elements of `['authorization', '…']` in a list, of raw headers, and of `['--password', '…']`. */
function pairedElement(state: CopyState, holder: readonly unknown[]): IsPaired {
  if (holder.length < 2 || typeof holder[0] !== 'string') return undefined
  const isPair = holder.length === 2 && Array.isArray(state.holders.at(-2))
  const isRaw = RAW_HEADERS.test(state.path.at(-1) ?? '')
  return (key) => {
    const index = Number(key)
    const [before, value] = [holder[index - 1], holder[index]]
    if (typeof before !== 'string') return false
    if (isPair) return isSecretText(state, before)
    if (typeof value !== 'string') return false
    if (isRaw && index % 2 === 1) return isSecretText(state, before)
    return FLAG.test(before) && !value.startsWith('-') && isSecretText(state, before)
  }
}

/** Copies the members that fit. */
function copyMembers(
  state: CopyState,
  keys: Iterable<string>,
  holder: object,
  end: number,
): object {
  const { path } = state
  const isList = Array.isArray(holder)
  const isPaired = Array.isArray(holder)
    ? pairedElement(state, holder)
    : pairedMember(state, keys as readonly string[], holder)
  const elements: unknown[] = []
  const copy = {}
  for (const key of keys) {
    const before = state.used
    state.used += isList ? 1 : bytesOf(key) + 2
    path.push(key)
    const member =
      state.used > end
        ? LEFT_OUT
        : isPaired?.(key)
          ? redactMember(state, end)
          : copyMember(state, holder, key, end)
    path.pop()
    if (member === LEFT_OUT) {
      state.used = before
      state.isCut = true
      break
    }
    if (isList) elements.push(member)
    else setKey(copy, redactText(key), member as JsonValue)
  }
  return isList ? elements : copy
}

const limitOfMember = ({ isFair, used }: CopyState, end: number): number =>
  isFair ? used + ((end - used) >> 1) : end

function redactMember(state: CopyState, end: number): unknown {
  noteRedacted(state)
  return take(state, REDACTED, REDACTED.length + 2, limitOfMember(state, end))
}

function copyMember(state: CopyState, holder: object, key: string, end: number): unknown {
  if (state.isSecret(state.path, holder)) return redactMember(state, end)
  const limit = limitOfMember(state, end)
  try {
    return copyValue(state, (holder as Readonly<Record<string, unknown>>)[key], limit)
  } catch {
    // A getter or a proxy threw.
    return take(state, null, 4, limit)
  }
}

/** Returns the value if its bytes fit, and adds them to `used`. */
function take<Value>(
  state: CopyState,
  value: Value,
  bytes: number,
  end: number,
): Value | typeof LEFT_OUT {
  if (state.used + bytes > end) return LEFT_OUT
  state.used += bytes
  return value
}

/** A generator, because a sparse array can be longer than a list of its indexes may be. */
function* indexes({ length }: readonly unknown[]): Generator<string> {
  for (let i = 0; i < length; i++) yield String(i)
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
  if (isError(value)) return textWithCauses(value, String)
  if (isMap(value)) return Object.fromEntries(value)
  return isSet(value) ? [...value] : value
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

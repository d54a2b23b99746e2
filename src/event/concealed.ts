import type { AuditEvent, JsonObject, JsonValue } from './event.js'
import { setKey } from './json-copy.js'
import { SOURCE } from './own-fields.js'

/** A name, and the place at which the part begins that is left of it after some keys. */
export interface Rest {
  readonly name: string
  readonly at: number
}

/** The rest of names after a key; `gone` if one of them leads to the value of the key. */
function after(rests: readonly Rest[], key: string): readonly Rest[] | 'gone' {
  const left: Rest[] = []
  for (const { name, at } of rests) {
    if (!name.startsWith(key, at)) continue
    const end = at + key.length
    if (end === name.length) return 'gone'
    if (name[end] === '_') left.push({ name, at: end + 1 })
  }
  return left
}

/** The keys and the indexes that lead to a value. */
export type Path = readonly (string | number)[]

/** Receives a value that is left out, and its place. */
export type Take = (path: Path, value: JsonValue) => void

/** The value without what the names lead to; the same value if they lead to nothing. */
export function without(
  value: JsonValue,
  rests: readonly Rest[],
  take?: Take,
  path: Path = [],
): JsonValue {
  if (rests.length === 0 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value))
    return sameOr(
      value,
      value.map((element, i) => without(element, rests, take, take ? [...path, i] : path)),
    )
  const copy: JsonObject = {}
  let isSame = true
  for (const [key, member] of Object.entries(value)) {
    const left = after(rests, key)
    const at = take ? [...path, key] : path
    if (left === 'gone') {
      take?.(at, member)
      isSame = false
      continue
    }
    const kept = without(member, left, take, at)
    isSame &&= kept === member
    setKey(copy, key, kept)
  }
  return isSame ? value : copy
}

const sameOr = (value: JsonValue[], copy: JsonValue[]): JsonValue[] =>
  copy.length === value.length && copy.every((one, i) => one === value[i]) ? value : copy

const INDEX = /^(?:\d+|-)$/

/**
 * The rest of names after a JSON Pointer, in which a number may be a key or the index of an array; or the part of the pointer that one of
 * the names leads to.
 */
export function afterPointer(rests: readonly Rest[], pointer: string): readonly Rest[] | string {
  let left = rests
  const parts = pointer.split('/')
  for (let i = 1; i < parts.length; i++) {
    const key = parts[i]!.replaceAll('~1', '/').replaceAll('~0', '~')
    const next = after(left, key)
    if (next === 'gone') return parts.slice(0, i + 1).join('/')
    left = INDEX.test(key) ? [...next, ...left] : next
  }
  return left
}

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== undefined && value !== null && typeof value === 'object' && !Array.isArray(value)

const TREE = /^[[{]/

/** True for the JSON text of a cut object or array of a change, in which one of the names may lead to a value. */
export const isCutTree = (change: JsonObject, member: JsonValue, rests: readonly Rest[]): boolean =>
  rests.length > 0 &&
  typeof member === 'string' &&
  Object.hasOwn(change, 'cut_bytes') &&
  TREE.test(member)

/** The operation of a change without what the names lead to; `undefined` if they lead to its path. */
function changeWithout(change: JsonValue, rests: readonly Rest[]): JsonValue | undefined {
  if (!isObject(change)) return change
  const { path } = change
  const left = typeof path === 'string' ? afterPointer(rests, path) : rests
  if (typeof left === 'string') return undefined
  const shown = { ...change }
  for (const name of ['value', 'old_value']) {
    if (!Object.hasOwn(change, name)) continue
    if (isCutTree(change, change[name]!, left)) delete shown[name]
    else shown[name] = without(change[name]!, left)
  }
  return shown
}

/** The attribute `recording` without pointers to what is concealed. The places of changes may be others now. */
function recordingWithout(recording: JsonObject, rests: readonly Rest[]): JsonObject {
  const isShown = (text: JsonValue): boolean =>
    typeof text !== 'string' ||
    !text.startsWith('/') ||
    !(text.startsWith('/changes/') || typeof afterPointer(rests, text) === 'string')
  const copy: JsonObject = {}
  for (const [key, value] of Object.entries(recording)) {
    if (Array.isArray(value)) {
      const shown = value.filter(isShown)
      if (shown.length > 0) setKey(copy, key, shown)
    } else if (isObject(value))
      setKey(copy, key, Object.fromEntries(Object.entries(value).filter(([name]) => isShown(name))))
    else setKey(copy, key, value)
  }
  return copy
}

/**
 * Attributes that hold states of a resource. A concealed name is concealed in them too: `salary` also as `before_salary`
 * and `previous_salary`, and in the operations of `changes`.
 */
const STATE_PREFIXES = ['', 'before_', 'after_', 'previous_', 'changes_']

/** The names, and the names by which the states of a resource have the same. */
export const concealedNames = (names: readonly string[]): readonly string[] =>
  names.flatMap((name) => STATE_PREFIXES.map((prefix) => prefix + name))

/**
 * Returns a function that returns an event without the attributes that the names lead to, as they do in filters. With `source`,
 * the source of the event is null. The event itself stays as it is.
 */
export function concealer(names: readonly string[]): (event: AuditEvent) => AuditEvent {
  const all = concealedNames(names).map((name) => ({ name, at: 0 }))
  const given = names.map((name) => ({ name, at: 0 }))
  const hasSource = !names.includes(SOURCE)
  return ({ id, created_at, username, system, type, source, attributes }) => {
    const shown = { ...(without(attributes, all) as JsonObject) }
    const { changes, recording } = shown
    if (Array.isArray(changes)) {
      const operations = changes.map((change) => changeWithout(change, given))
      shown['changes'] = operations.filter((change) => change !== undefined)
    }
    if (isObject(recording)) {
      const left = recordingWithout(recording, all)
      if (Object.keys(left).length > 0) shown['recording'] = left
      else delete shown['recording']
    }
    const own = { id, created_at, username, system, type, source: hasSource ? source : null }
    return { ...own, attributes: shown }
  }
}

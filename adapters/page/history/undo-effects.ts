import type { RecordedChange } from '../../../src/event/changes.js'
import type { JsonObject, JsonValue } from '../../../src/event/event.js'
import type { Operation } from '../../../src/event/json-patch.js'
import { applyPatch, type Change } from '../data/json-patch.js'
import { ownValue } from '../data/own-property.js'

/** One value that undoing a change would set or remove. */
export interface UndoEffect {
  readonly change: RecordedChange
  /** True if the value was changed again later, so that undoing would overwrite the later change. */
  readonly isChangedSince: boolean
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

function isSame(one: JsonValue | undefined, other: JsonValue | undefined): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, i) => isSame(value, other[i]))
  if (!isObject(one) || !isObject(other)) return one === other
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => isSame(one[key], ownValue(other, key)))
  )
}

/** The value at a JSON Pointer; `undefined` if there is none. */
export function valueAt(document: JsonValue | undefined, pointer: string): JsonValue | undefined {
  return pointer
    .split('/')
    .slice(1)
    .reduce<JsonValue | undefined>((value, escaped) => {
      const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
      if (Array.isArray(value)) return value[Number(key)]
      return isObject(value) ? ownValue(value, key) : undefined
    }, document)
}

function patched(state: JsonObject, operation: Change): JsonObject {
  try {
    return applyPatch(state, [operation])
  } catch {
    // The place no longer exists.
    return state
  }
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

function shownChange(operation: Change, old: JsonValue | undefined): RecordedChange {
  const { op, path } = operation
  const before = old === undefined ? {} : { old_value: old }
  if (op === 'remove') return { op, path, ...before }
  return {
    op: old === undefined ? 'add' : 'replace',
    path,
    value: operation.value as JsonValue,
    ...before,
  }
}

/**
 * Effects of the patch that undoes a change on the current state. The tests in the patch show which values were
 * changed again. The operations are from `revertPatch`.
 */
export function undoEffects(revert: readonly Operation[], present: JsonObject): UndoEffect[] {
  const effects: UndoEffect[] = []
  let state = present
  let isChangedSince = false
  for (const operation of revert) {
    const { op, path } = operation
    const old = valueAt(state, path)
    if (op === 'test') {
      isChangedSince = !isSame(old, operation.value as JsonValue)
      continue
    }
    const isInsertion = op === 'add' && Array.isArray(valueAt(state, parentOf(path)))
    const isExpected = isInsertion || (old === undefined) === (op === 'add')
    effects.push({
      change: shownChange(operation as Change, isInsertion ? undefined : old),
      isChangedSince: isChangedSince || !isExpected,
    })
    state = patched(state, operation as Change)
    isChangedSince = false
  }
  return effects
}

import type { JsonObject, JsonValue } from '../../../src/event/event.js'
import type { Operation } from '../../../src/event/json-patch.js'

/** The RFC 6902 operations that the stream sends. */
export type Change = Extract<Operation, { op: 'add' | 'replace' | 'remove' }>

const keysOf = (pointer: string): readonly string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))

function inArray(list: readonly JsonValue[], at: number, rest: readonly string[], change: Change) {
  if (rest.length > 0) return list.with(at, after(list[at], rest, change))
  if (change.op === 'remove') return list.toSpliced(at, 1)
  return list.toSpliced(at, change.op === 'add' ? 0 : 1, change.value as JsonValue)
}

function after(
  value: JsonValue | undefined,
  [key, ...rest]: readonly string[],
  change: Change,
): JsonValue {
  if (key === undefined) return change.op === 'remove' ? null : (change.value as JsonValue)
  if (Array.isArray(value))
    return inArray(value, key === '-' ? value.length : Number(key), rest, change)
  if (typeof value !== 'object' || value === null) throw new RangeError(change.path)
  if (rest.length === 0 && change.op === 'remove') {
    const { [key]: _, ...others } = value
    return others
  }
  // A computed key defines an own property, even for `__proto__`.
  return {
    ...value,
    [key]: after(Object.hasOwn(value, key) ? value[key] : undefined, rest, change),
  }
}

/**
 * Applies a JSON Patch (RFC 6902). The result shares unchanged parts with `document`. Throws if a path
 * does not exist, which means that the patch was made for another document.
 */
export function applyPatch(document: JsonObject, changes: readonly Change[]): JsonObject {
  return changes.reduce<JsonValue>(
    (value, change) => after(value, keysOf(change.path), change),
    document,
  ) as JsonObject
}

import type { JsonObject, JsonValue } from '../event/event.js'
import { setKey } from '../event/json-copy.js'
import { escapedBytes } from './growing-text.js'

/**
 * The attributes of a live event with their sizes, without `recording`. The value of a growing text
 * is `''`.
 */
export interface BaseAttributes {
  readonly values: JsonObject
  put(key: string, value: JsonValue): void
  /** Returns false if there is no such attribute. */
  remove(key: string): boolean
  /** Size of the JSON text. */
  bytes(): number
  isChanged(): boolean
  /** Size of the attributes that were set since `markWritten`. */
  changedBytes(): number
  /** Makes the next write contain all attributes, although `put` was not called. */
  markChanged(): void
  markWritten(): void
}

export function createBaseAttributes(): BaseAttributes {
  const values: JsonObject = {}
  const sizes = new Map<string, number>()
  let bytes = 0
  const changed = new Set<string>()
  let changedBytes = 0
  let isChanged = false
  return {
    values,
    put(key, value) {
      const size = escapedBytes(key) + Buffer.byteLength(JSON.stringify(value)) + '"":,'.length
      const before = sizes.get(key) ?? 0
      setKey(values, key, value)
      sizes.set(key, size)
      bytes += size - before
      changedBytes += size - (changed.has(key) ? before : 0)
      changed.add(key)
      isChanged = true
    },
    remove(key) {
      if (!Object.hasOwn(values, key)) return false
      const size = sizes.get(key)!
      delete values[key]
      sizes.delete(key)
      bytes -= size
      if (changed.delete(key)) changedBytes -= size
      isChanged = true
      return true
    },
    bytes: () => bytes,
    isChanged: () => isChanged,
    changedBytes: () => changedBytes,
    markChanged: () => void (isChanged = true),
    markWritten() {
      changed.clear()
      changedBytes = 0
      isChanged = false
    },
  }
}

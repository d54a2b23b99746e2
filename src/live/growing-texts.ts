import type { BaseAttributes } from './base-attributes.js'
import type { JsonObject, JsonValue } from '../event/event.js'
import { setKey } from '../event/json-copy.js'
import { GrowingText } from './growing-text.js'
import type { LiveChange } from '../store/store.js'

/**
 * The attributes of a live event to which text is appended. They are separate from the other attributes, so that the
 * cost of appending depends only on the appended text.
 */
export interface GrowingTexts {
  /** Returns the growing text of this attribute. Converts the current text if needed. */
  grow(key: string): GrowingText
  /** Sets an attribute of either kind. */
  set(key: string, value: JsonValue): void
  /** Removes an attribute of either kind. */
  remove(key: string): void
  entries(): Iterable<readonly [key: string, text: GrowingText]>
  text(key: string): string | undefined
  has(key: string): boolean
  /** Size of the JSON text. */
  bytes(): number
  isChanged(): boolean
  pendingLength(): number
  /** Returns the changes that have to be written. */
  changes(): NonNullable<LiveChange['texts']>
  markWritten(): void
  /** A copy of all attributes with the texts in their places. */
  copyAll(): JsonObject
}

export function createGrowingTexts(base: BaseAttributes): GrowingTexts {
  const texts = new Map<string, GrowingText>()
  /** All attributes that have ever grown. The store may hold parts of their text. */
  const everGrown = new Set<string>()

  const grow = (key: string): GrowingText => {
    const known = texts.get(key)
    if (known) return known
    const text = new GrowingText(everGrown.has(key))
    const value = Object.hasOwn(base.values, key) ? base.values[key] : undefined
    if (typeof value === 'string') text.set(value)
    if (value !== '') base.put(key, '')
    texts.set(key, text)
    everGrown.add(key)
    return text
  }

  return {
    grow,
    set(key, value) {
      if (typeof value === 'string' && everGrown.has(key)) return grow(key).set(value)
      texts.delete(key)
      return base.put(key, value)
    },
    remove(key) {
      if (base.remove(key)) texts.delete(key)
    },
    entries: () => texts,
    text: (key) => texts.get(key)?.text,
    has: (key) => texts.has(key),
    bytes: () => [...texts.values()].reduce((sum, { bytes }) => sum + bytes, 0),
    isChanged: () => [...texts.values()].some((text) => text.replaces || text.pending !== ''),
    pendingLength: () => [...texts.values()].reduce((sum, { pending }) => sum + pending.length, 0),
    changes() {
      const all = Array.from(texts, ([key, { pending: text, replaces }]) => ({
        key,
        text,
        replaces,
      }))
      return all.filter(({ text, replaces }) => replaces || text !== '')
    },
    markWritten() {
      for (const text of texts.values()) text.markWritten()
    },
    copyAll() {
      const copy = JSON.parse(JSON.stringify(base.values)) as JsonObject
      for (const [key, { text }] of texts) setKey(copy, key, text)
      return copy
    },
  }
}

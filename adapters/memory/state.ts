import type { JsonValue } from '../../src/event/event.js'
import type { Microseconds } from '../../src/event/timestamp.js'

/** Small values by key, some of which expire. */
export interface MemoryState {
  /** See `EventStore.updateState`. */
  change(
    key: string,
    change: (value: JsonValue | undefined, now: Microseconds) => JsonValue | undefined,
    now: Microseconds,
    keepFor?: Microseconds,
  ): JsonValue | undefined
}

interface Entry {
  readonly json: string
  readonly expiresAt: Microseconds
}

// Values that one write checks for expiry, the oldest first.
const MAX_CHECKED = 100

export function createState(): MemoryState {
  const entries = new Map<string, Entry>()

  const deleteExpired = (now: Microseconds): void => {
    let seen = 0
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt <= now) entries.delete(key)
      if (++seen === MAX_CHECKED) break
    }
  }

  return {
    change(key, change, now, keepFor = Infinity) {
      const entry = entries.get(key)
      const json = entry && entry.expiresAt > now ? entry.json : undefined
      const next = change(json === undefined ? undefined : (JSON.parse(json) as JsonValue), now)
      const text = next === undefined ? undefined : JSON.stringify(next)
      if (text !== json) {
        if (keepFor < Infinity) deleteExpired(now)
        entries.delete(key)
        if (text !== undefined) entries.set(key, { json: text, expiresAt: now + keepFor })
      }
      return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
    },
  }
}

import type { JsonValue } from '../../src/event/event.js'
import type { Microseconds } from '../../src/event/timestamp.js'

/** Small values by key, some of them for a while only. */
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
  readonly forgottenAt: Microseconds
}

// So many values a write looks at, those first that were written first.
const MAX_TIDIED = 100

export function createState(): MemoryState {
  const entries = new Map<string, Entry>()

  const tidy = (now: Microseconds): void => {
    let seen = 0
    for (const [key, { forgottenAt }] of entries) {
      if (forgottenAt <= now) entries.delete(key)
      if (++seen === MAX_TIDIED) break
    }
  }

  return {
    change(key, change, now, keepFor = Infinity) {
      const entry = entries.get(key)
      const json = entry && entry.forgottenAt > now ? entry.json : undefined
      const next = change(json === undefined ? undefined : (JSON.parse(json) as JsonValue), now)
      const text = next === undefined ? undefined : JSON.stringify(next)
      if (text !== json) {
        if (keepFor < Infinity) tidy(now)
        entries.delete(key)
        if (text !== undefined) entries.set(key, { json: text, forgottenAt: now + keepFor })
      }
      return text === undefined ? undefined : (JSON.parse(text) as JsonValue)
    },
  }
}

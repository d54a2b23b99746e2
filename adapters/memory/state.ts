import type { JsonValue } from '../../src/event/event.js'
import type { Microseconds } from '../../src/event/timestamp.js'
import { compareText } from '../../src/filter/values.js'
import { changedStates, type StateText } from '../../src/store/states.js'
import type { ChangeStates, ReadStatesOptions } from '../../src/store/store.js'

/** Small values by key, some of which expire. */
export interface MemoryState {
  /** See `EventStore.updateStates`. */
  change(
    keys: readonly string[],
    change: ChangeStates,
    now: Microseconds,
    keepFor?: Microseconds,
  ): void
  /** Deletes all values that have expired. */
  prune(now: Microseconds): void
  /** See `EventStore.readStates`. */
  read(
    prefix: string,
    options: ReadStatesOptions,
    now: Microseconds,
  ): (readonly [string, JsonValue])[]
}

interface Entry {
  readonly json: string
  readonly expiresAt: Microseconds
}

// Values that one write checks for expiry, the oldest first.
const MAX_CHECKED = 100

export function createState(): MemoryState {
  const entries = new Map<string, Entry>()

  const deleteExpired = (now: Microseconds, max: number): void => {
    let seen = 0
    for (const [key, { expiresAt }] of entries) {
      if (expiresAt <= now) entries.delete(key)
      if (++seen === max) break
    }
  }

  const textOf = (key: string, now: Microseconds): StateText => {
    const entry = entries.get(key)
    return entry && entry.expiresAt > now ? entry.json : undefined
  }

  return {
    change(keys, change, now, keepFor = Infinity) {
      const before = new Map(keys.map((key) => [key, textOf(key, now)]))
      const after = changedStates(before, change, now)
      if (after.size > 0 && keepFor < Infinity) deleteExpired(now, MAX_CHECKED)
      for (const [key, json] of after) {
        entries.delete(key)
        if (json !== undefined) entries.set(key, { json, expiresAt: now + keepFor })
      }
    },
    prune: (now) => deleteExpired(now, Infinity),
    read(prefix, { after, limit }, now) {
      const isRead = (key: string): boolean =>
        key.startsWith(prefix) &&
        (after === undefined || compareText(key, after) > 0) &&
        textOf(key, now) !== undefined
      const keys = [...entries.keys()].filter(isRead).toSorted(compareText)
      return keys
        .slice(0, limit)
        .map((key) => [key, JSON.parse(textOf(key, now)!) as JsonValue] as const)
    },
  }
}

import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

export interface FailureCount {
  readonly consumedPoints: number
  readonly msBeforeNext: number
}

/** Counts failures by key. All limiters of rate-limiter-flexible have this interface. */
export interface FailureCounter {
  get(key: string): Promise<FailureCount | null | undefined>
  /** Adds a failure. */
  penalty(key: string): Promise<FailureCount>
  delete(key: string): Promise<unknown>
}

/** Options of a limiter of rate-limiter-flexible, apart from its store. */
export interface FailureCounterOptions {
  readonly keyPrefix: string
  /** Failures within the duration that are allowed. */
  readonly points: number
  /** In seconds. */
  readonly duration: number
}

/** Makes a counter, such as `(options) => new RateLimiterRedis({ ...options, storeClient })`. */
export type FailureStore = (options: FailureCounterOptions) => FailureCounter

// Memory bound in bytes, approximately, for any number of addresses and user names.
const MAX_SIZE = 8 * 2 ** 20
const ENTRY_SIZE = 300

/** Counts in memory. All counters together forget the least recent keys when they take too much. */
export function memoryCounters(): FailureStore {
  // `max` would allocate all entries at once.
  const failures = new LRUCache<string, { readonly count: number; readonly until: number }>({
    maxSize: MAX_SIZE,
    sizeCalculation: (_, key) => ENTRY_SIZE + key.length,
  })
  return ({ keyPrefix, duration }) => {
    const keyOf = (key: string): string => `${keyPrefix}:${key}`
    const read = (key: string, added: number): FailureCount | undefined => {
      const now = performance.now()
      const known = failures.get(keyOf(key))
      const current = known && known.until > now ? known : undefined
      // Failures count for the duration after the first one.
      const { until } = current ?? { until: now + duration * 1000 }
      const count = (current?.count ?? 0) + added
      if (added > 0) failures.set(keyOf(key), { count, until })
      return count > 0 ? { consumedPoints: count, msBeforeNext: until - now } : undefined
    }
    return {
      get: async (key) => read(key, 0),
      penalty: async (key) => read(key, 1)!,
      delete: async (key) => failures.delete(keyOf(key)),
    }
  }
}

/** Hashes the keys, because user names are too long for some stores and should not be readable there. */
export function hashingKeys(store: FailureStore): FailureStore {
  return (options) => {
    const counter = store(options)
    const keyOf = (key: string): string => hash('sha256', key, 'base64url')
    return {
      get: (key) => counter.get(keyOf(key)),
      penalty: (key) => counter.penalty(keyOf(key)),
      delete: (key) => counter.delete(keyOf(key)),
    }
  }
}

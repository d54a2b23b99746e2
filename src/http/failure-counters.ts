// oxlint-disable-next-line typescript/triple-slash-reference -- docs and examples that import this file are compiled on their own
/// <reference path="./rate-limiter-memory.d.ts" />
import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'

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

/** What a limiter of rate-limiter-flexible is made with, apart from its store. */
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
const ENTRY_SIZE = 500

/** Counts in memory. All counters together forget the least recent keys when they take too much. */
export function memoryCounters(): FailureStore {
  const forget = new LRUCache<string, () => unknown>({
    maxSize: MAX_SIZE,
    sizeCalculation: (_, key) => ENTRY_SIZE + key.length,
    noDisposeOnSet: true,
    dispose: (drop, _, reason) => {
      if (reason === 'evict') drop()
    },
  })
  return (options) => {
    const limiter = new RateLimiterMemory(options)
    return {
      get: (key) => limiter.get(key),
      penalty(key) {
        forget.set(limiter.getKey(key), () => limiter.delete(key))
        return limiter.penalty(key)
      },
      delete: (key) => limiter.delete(key),
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

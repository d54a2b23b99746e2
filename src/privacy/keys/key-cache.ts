import { LRUCache } from 'lru-cache'
import type { SubjectKey } from '../subject-keys.js'

/** How long a key may be used after it was read, in milliseconds. */
export const MAX_AGE_MS = 30_000
/** A key takes about 300 bytes. */
const MAX_KEYS = 10_000

/** Two clocks in milliseconds. The monotonic one may stand still while the machine sleeps, and the other one may be set. */
export interface KeyClock {
  monotonic(): number
  wall(): number
}

/** A moment on both clocks. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

// Bound now: a test runner of the host may replace the functions by ones that stand still.
const { now: wall } = Date
const monotonic = performance.now.bind(performance)

export const systemKeyClock: KeyClock = { monotonic, wall }

interface Entry {
  readonly key: Uint8Array
  readonly subject: string | undefined
  readonly readAt: Moment
}

/** Keys that were read less than 30 s ago. The bytes in it are its own; they are overwritten when an entry is dropped. */
export interface KeyCache {
  now(): Moment
  /** The text of a subject is unique among subjects. */
  bySubject(subject: string): SubjectKey | undefined
  byRef(ref: string): SubjectKey | undefined
  add(key: SubjectKey, readAt: Moment, subject?: string): void
  delete(subject: string): void
  clear(): void
}

export function createKeyCache(clock: KeyClock): KeyCache {
  const refs = new Map<string, string>()
  const entries = new LRUCache<string, Entry>({
    max: MAX_KEYS,
    dispose({ key, subject }) {
      key.fill(0)
      if (subject !== undefined) refs.delete(subject)
    },
  })
  const now = (): Moment => ({ monotonic: clock.monotonic(), wall: clock.wall() })

  const isFresh = ({ readAt }: Entry): boolean =>
    clock.monotonic() - readAt.monotonic < MAX_AGE_MS && clock.wall() - readAt.wall < MAX_AGE_MS

  /** The caller gets a copy, so that an entry can be overwritten while the caller encrypts. */
  const byRef = (ref: string): SubjectKey | undefined => {
    const entry = entries.get(ref)
    if (!entry) return undefined
    if (isFresh(entry)) return { ref, key: new Uint8Array(entry.key) }
    entries.delete(ref)
    return undefined
  }

  return {
    now,
    byRef,
    bySubject(subject) {
      const ref = refs.get(subject)
      return ref === undefined ? undefined : byRef(ref)
    },
    add({ ref, key }, readAt, subject = entries.peek(ref)?.subject) {
      entries.set(ref, { key: new Uint8Array(key), subject, readAt })
      if (subject !== undefined) refs.set(subject, ref)
    },
    delete(subject) {
      const ref = refs.get(subject)
      if (ref !== undefined) entries.delete(ref)
    },
    clear() {
      entries.clear()
      refs.clear()
    },
  }
}

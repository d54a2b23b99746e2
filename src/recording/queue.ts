import { AuditLogError } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { FailurePolicy } from './failure-policy.js'
import { waitingAtExit } from './warnings.js'

/**
 * Earlier attempts that may have stored the same draft, also attempts of other calls. The store looks for the suffix
 * of the draft.
 */
export interface EarlierAttempts {
  /** A time before the event, if it was stored. */
  readonly since: Microseconds
  /** An event that is not later than this was reported as stored before. */
  readonly until: Microseconds
}

/** A draft and the call that waits for it. */
export interface QueueEntry {
  readonly draft: EventDraft
  readonly policy: FailurePolicy
  /** Recorded by the log itself, so not counted among the calls of the host. */
  readonly isOwn: boolean
  /** Bytes of the draft's JSON text. */
  readonly bytes: number
  /** Time on the scale of `performance.now()`. */
  readonly deadline: number
  readonly resolve: (event: AuditEvent | undefined) => void
  readonly reject: (error: AuditLogError) => void
  readonly signal: AbortSignal | undefined
  onAbort: (() => void) | undefined
  /** `stored`: visible in the store, but perhaps not durable. `journalling`: being written to the journal. */
  stage: 'waiting' | 'stored' | 'journalling' | 'settled'
  /** Time of the call; only for the policy `queue`. */
  readonly calledAt: Microseconds | undefined
  earlier: EarlierAttempts | undefined
  /**
   * An attempt may have stored the draft, with a `created_at` later than this; `undefined` before the
   * first attempt.
   */
  since: Microseconds | undefined
  /** The store wrote the draft in an attempt, but did not confirm it. */
  isInDoubt: boolean
  /** Callbacks of `flush` calls that wait for the entry; `undefined` if there are none. */
  onSettled: (() => void)[] | undefined
}

/** The entries that wait for the store, oldest first, and the entries that an attempt has taken. */
export interface Queue {
  push(entry: QueueEntry): void
  isEmpty(): boolean
  /** True if at least `count` entries wait. */
  has(count: number): boolean
  /** Up to `count` of the entries that `take` would return. */
  peek(count: number): readonly QueueEntry[]
  /** Takes up to `count` of the oldest entries into flight, and drops settled ones on the way. */
  take(count: number): readonly QueueEntry[]
  /** Ends the flight of a batch. */
  land(batch: readonly QueueEntry[]): void
  /** Puts entries that need another attempt before all other entries. */
  putBack(again: readonly QueueEntry[]): void
  /** Removes and returns the waiting entries that satisfy the condition. */
  extract(condition: (entry: QueueEntry) => boolean): readonly QueueEntry[]
  /** True if the entry waits and is not in flight. */
  holds(entry: QueueEntry): boolean
  inFlight(): readonly QueueEntry[]
  /** The entries in flight, then the waiting ones. */
  all(): readonly QueueEntry[]
  /** True if an entry with the policy `queue` is in flight or waits. */
  hasJournalBound(): boolean
  /** True if an entry with the policy `queue` is in flight. It must be journalled before waiting entries. */
  fliesJournalBound(): boolean
}

/** True if the call has no result yet, and is not on its way into the journal. */
export const isOpen = ({ stage }: QueueEntry): boolean => stage === 'waiting' || stage === 'stored'

/**
 * Tests entries against one time on the scale of `performance.now()`. With a new time for each entry, a later entry
 * could be due although an earlier entry was not.
 */
export const dueAt =
  (now: number) =>
  ({ deadline }: QueueEntry): boolean =>
    deadline <= now

const isJournalBound = (entry: QueueEntry): boolean => entry.policy === 'queue' && isOpen(entry)

export function createQueue(): Queue {
  let waiting: QueueEntry[] = []
  let flights: readonly (readonly QueueEntry[])[] = []
  const inFlight = (): readonly QueueEntry[] => flights.flat()
  return {
    push: (entry) => void waiting.push(entry),
    isEmpty: () => waiting.length === 0,
    has: (count) => waiting.length >= count,
    peek: (count) => waiting.slice(0, count).filter(({ stage }) => stage !== 'settled'),
    take(count) {
      const batch: QueueEntry[] = []
      let passed = 0
      for (const entry of waiting) {
        if (batch.length === count) break
        passed++
        if (entry.stage !== 'settled') batch.push(entry)
      }
      waiting = waiting.slice(passed)
      flights = [...flights, batch]
      return batch
    },
    land: (batch) => void (flights = flights.filter((flight) => flight !== batch)),
    putBack(again) {
      if (again.length > 0) waiting = [...again, ...waiting]
    },
    extract(condition) {
      const extracted: QueueEntry[] = []
      const rest: QueueEntry[] = []
      for (const entry of waiting) (condition(entry) ? extracted : rest).push(entry)
      if (extracted.length > 0) waiting = rest
      return extracted
    },
    holds: (entry) => waiting.includes(entry),
    inFlight,
    all: () => [...inFlight(), ...waiting],
    hasJournalBound: () => inFlight().some(isJournalBound) || waiting.some(isJournalBound),
    fliesJournalBound: () => inFlight().some(isJournalBound),
  }
}

export interface RecorderOptions {
  /** Maximum time that an event waits for the store, in milliseconds; at least 1. @default 10000 */
  readonly deadlineMs: number
  /** Maximum number of waiting events. Beyond this, `record` rejects with `QUEUE_FULL`. @default 10000 */
  readonly maxWaiting: number
  /** Maximum bytes of the attributes (JSON text) of waiting events. @default 67108864 */
  readonly maxWaitingBytes: number
}

export const defaultRecorderOptions: RecorderOptions = {
  deadlineMs: 10_000,
  maxWaiting: 10_000,
  maxWaitingBytes: 67_108_864,
}

/** Counts the events that wait for the store, in number and in bytes. */
export interface QueueLimits {
  /** `QUEUE_FULL` if the limits are reached; `undefined` if there is room. */
  fullError(): AuditLogError | undefined
  /** `isOwn` is true for events of the log itself. */
  add(bytes: number, isOwn: boolean): void
  remove(bytes: number, isOwn: boolean): void
  /**
   * Counts an event of the host until the returned function is called for the first time. Throws
   * `QUEUE_FULL`.
   */
  reserve(bytes: number): () => void
  /** All events that wait. */
  total(): number
  /** The events of the host that wait. */
  readonly calls: () => number
}

export function createQueueLimits(storeName: string, options: RecorderOptions): QueueLimits {
  let waiting = 0
  let own = 0
  let waitingBytes = 0
  const unfinished = { count: () => waiting - own }
  const limits: QueueLimits = {
    fullError() {
      if (waiting < options.maxWaiting && waitingBytes < options.maxWaitingBytes) return undefined
      const message = `${waiting} events already wait for the ${storeName} store`
      return new AuditLogError('QUEUE_FULL', message)
    },
    add(bytes, isOwn) {
      if (waiting++ === 0) waitingAtExit.add(unfinished)
      waitingBytes += bytes
      if (isOwn) own++
    },
    remove(bytes, isOwn) {
      if (--waiting === 0) waitingAtExit.delete(unfinished)
      waitingBytes -= bytes
      if (isOwn) own--
    },
    reserve(bytes) {
      const full = limits.fullError()
      if (full) throw full
      limits.add(bytes, false)
      let isReserved = true
      return () => {
        if (isReserved) limits.remove(bytes, false)
        isReserved = false
      }
    },
    total: () => waiting,
    calls: unfinished.count,
  }
  return limits
}

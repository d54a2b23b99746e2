import { abortedError, asStoreFailure, AuditLogError, throwIfAborted } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { createAvailability, type Outage } from './availability.js'
import { type BeforeThrottled, createAttempts, createBatches } from './batches.js'
import type { FailurePolicy } from './failure-policy.js'
import {
  createQueue,
  createQueueLimits,
  type EarlierAttempts,
  type QueueEntry,
  type RecorderOptions,
} from './queue.js'
import { createSettlement, type Recording, type Settlement } from './settlement.js'

export interface AddOptions extends WaitOptions {
  /** @default 'block' */
  readonly policy?: FailurePolicy | undefined
  /** Time on the scale of `performance.now()`. @default `deadlineMs` from now */
  readonly deadline?: number | undefined
  readonly earlier?: EarlierAttempts | undefined
  /** True for events of the log itself. They do not count as `waiting`. */
  readonly isOwn?: boolean | undefined
}

/** Queues drafts and writes them to the store in batches. */
export interface Recorder {
  /**
   * Resolves to the durable event; to `undefined` if the draft was suppressed by its throttle, or
   * journalled or dropped by its policy. Drafts are stored in the order in which they are added.
   * Throws `QUEUE_FULL` and `ABORTED` synchronously.
   */
  add(draft: EventDraft, options?: AddOptions): Promise<AuditEvent | undefined>
  /**
   * Adds the draft to the transaction of the host, without the queue. The store has issued its statement when the
   * call returns. The call counts as waiting until the store answers, without a deadline, because only that answer
   * shows whether the draft is in the transaction. Throws `QUEUE_FULL`, `ABORTED`, and `INVALID_OPTION` for a store
   * without transactions.
   */
  enlist(draft: EventDraft, transaction: object, options?: WaitOptions): Promise<undefined>
  /**
   * Reserves a place for a draft that will be added later, until the returned function is called.
   * Throws `QUEUE_FULL`.
   */
  hold(draft: EventDraft): () => void
  /** Number of the host's drafts that are not settled yet. */
  waiting(): number
  /** A time before every event that is stored from now on. */
  lowerBound(): Microseconds
  /** True from a failed attempt to the next successful one. */
  isDown(): boolean
  /** `undefined` unless the store is down. */
  readonly outage: () => Outage | undefined
  /** Resolves when all drafts added before are settled. */
  flush(): Promise<void>
  /** Aborts a replay of the journal, and resolves when nothing is in flight. `add` must not be called afterwards. */
  close(): Promise<void>
}

export interface RecorderParts
  extends Pick<Recording, 'now' | 'outcomes'>, Partial<Pick<Recording, 'journaling'>> {
  readonly beforeThrottled?: BeforeThrottled | undefined
}

/**
 * Group commit without a timer: the first draft schedules a batch for the end of the event loop turn;
 * all drafts added while a batch is in flight form the next one. A draft that is not stored within
 * its deadline is settled by its failure policy, and is stored later only from the journal.
 */
export function createRecorder(
  store: EventStore,
  options: RecorderOptions,
  { now, outcomes, journaling, beforeThrottled }: RecorderParts,
): Recorder {
  const { deadlineMs } = options
  const queue = createQueue()
  const queueLimits = createQueueLimits(store.name, options)
  const availability = createAvailability()
  const recording: Recording = {
    store,
    now,
    deadlineMs,
    queue,
    queueLimits,
    availability,
    journaling,
    outcomes,
    retriedLater: new Set(),
  }
  const attempts = createAttempts(recording, beforeThrottled)
  const settlement = createSettlement(recording)
  const batches = createBatches(recording, settlement, attempts)
  const enlisting = createEnlisting(recording)
  journaling?.onDue(() => batches.start())

  return {
    add(draft, { signal, policy = 'block', isOwn = false, deadline, earlier } = {}) {
      throwIfAborted(signal)
      const full = queueLimits.fullError()
      if (full && policy === 'block') throw full
      const bytes = Buffer.byteLength(draft.json)
      queueLimits.add(bytes, isOwn)
      return new Promise((resolve, reject) => {
        const entry: QueueEntry = {
          draft,
          policy,
          isOwn,
          bytes,
          deadline: deadline ?? performance.now() + deadlineMs,
          resolve,
          reject,
          signal,
          onAbort: undefined,
          stage: 'waiting',
          calledAt: policy === 'queue' ? journaling!.now() : undefined,
          earlier,
          since: earlier?.since,
          isInDoubt: false,
          onSettled: undefined,
        }
        if (!admit(recording, settlement, entry, full)) return
        batches.watch(entry.deadline)
        batches.start()
      })
    },
    enlist: enlisting.enlist,
    hold: (draft) => queueLimits.reserve(Buffer.byteLength(draft.json)),
    waiting: queueLimits.calls,
    lowerBound: attempts.lowerBound,
    isDown: availability.isDown,
    outage: availability.outage,
    async flush() {
      const settled = settlementsOf(queue.all())
      // The journal settles its entries at once, so the promises of `flush` must exist before.
      journaling?.flush()
      await Promise.all([enlisting.flush(), ...settled])
    },
    close: batches.close,
  }
}

/** A promise for each unsettled entry. It resolves when the entry is settled. */
function settlementsOf(entries: readonly QueueEntry[]): Promise<void>[] {
  return entries
    .filter(({ stage }) => stage !== 'settled')
    .map((entry) => new Promise((resolve) => (entry.onSettled ??= []).push(resolve)))
}

/** False if an earlier entry may still go to the journal, because it must be written before this entry. */
const goesToJournal = ({ availability, journaling, queue }: Recording): boolean =>
  (availability.skipsStore() || journaling!.length() > 0) && !queue.hasJournalBound()

/**
 * Puts a new entry into the queue and returns true. Or applies the policy: adds the entry to the journal or drops it,
 * and returns false. `full` is the error of a full queue.
 */
function admit(
  recording: Recording,
  settlement: Settlement,
  entry: QueueEntry,
  full: AuditLogError | undefined,
): boolean {
  const { store, queue, queueLimits, availability } = recording
  const { policy, signal } = entry
  availability.on('callAdded')
  if (policy === 'queue' && (full || goesToJournal(recording))) {
    settlement.toJournal(entry)
    return false
  }
  // While the store is down, only one event at a time tries it.
  if (policy === 'drop' && (full || (availability.isDown() && queueLimits.total() > 1))) {
    const error =
      full ?? new AuditLogError('STORE_FAILED', `the ${store.name} store is unavailable`)
    settlement.drop(entry, error)
    return false
  }
  if (signal) {
    // Once an attempt contains the entry, only the outcome of the attempt shows whether the event is stored.
    entry.onAbort = () => {
      if (queue.holds(entry)) settlement.reject(entry, abortedError(signal))
    }
    signal.addEventListener('abort', entry.onAbort, { once: true })
  }
  queue.push(entry)
  return true
}

const noop = (): void => {}

function createEnlisting({ store, queueLimits, outcomes }: Recording) {
  const enlisting = new Set<Promise<unknown>>()
  const enlist: Recorder['enlist'] = (draft, transaction, { signal } = {}) => {
    if (!store.enlist) {
      const message = `the ${store.name} store cannot take part in a transaction`
      throw new AuditLogError('INVALID_OPTION', message)
    }
    if (transaction === null || typeof transaction !== 'object')
      throw new AuditLogError('INVALID_OPTION', 'transaction must be an open database handle')
    throwIfAborted(signal)
    const release = queueLimits.reserve(Buffer.byteLength(draft.json))
    // An async function runs synchronously up to its first `await`, and never throws.
    const attempt = async (): Promise<undefined> => {
      try {
        await store.enlist!(draft, transaction, { signal })
      } catch (error) {
        const failure = asStoreFailure(store, error)
        release()
        outcomes.rejected(draft, failure)
        throw failure
      }
      release()
      outcomes.enlisted(draft)
      return undefined
    }
    const call = attempt()
    const settled: Promise<void> = call.then(noop, noop).then(() => void enlisting.delete(settled))
    enlisting.add(settled)
    return call
  }
  return {
    enlist,
    /** Resolves when all calls made before have settled. */
    flush: () => Promise.all(enlisting),
  }
}

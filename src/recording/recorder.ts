import { createAppender } from './appender.js'
import { type Availability, createAvailability, type Outage } from './availability.js'
import { createCommitter } from './committer.js'
import { createDeadlines, type Deadlines } from './deadlines.js'
import type { EarlierAttempts } from './earlier-attempts.js'
import { createEnlisting, type Enlisting } from './enlisting.js'
import { abortedError, AuditLogError, throwIfAborted } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { FailurePolicy } from './failure-policy.js'
import { createJournalReplay } from './journal-replay.js'
import type { Journaling } from './journaling.js'
import type { DraftOutcomes } from './outcomes.js'
import { createQueue, type Queue, type QueueEntry } from './queue.js'
import { createSettlement, type Settlement } from './settlement.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { Clock, Microseconds } from '../event/timestamp.js'
import { createWriteLoop } from './write-loop.js'
import { createQueueLimits, type QueueLimits, type RecorderOptions } from './queue-limits.js'

export interface AddOptions extends WaitOptions {
  /** @default 'block' */
  readonly policy?: FailurePolicy | undefined
  /**
   * On the scale of `performance.now()`.
   * @default `deadlineMs` from now
   */
  readonly deadline?: number | undefined
  readonly earlier?: EarlierAttempts | undefined
  /** Recorded by the log itself: `waiting` does not count it. */
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
  readonly enlist: Enlisting['enlist']
  /**
   * Reserves a place for a draft that will be added later, until the returned function is called.
   * Throws `QUEUE_FULL`.
   */
  hold(draft: EventDraft): () => void
  /** Number of the host's drafts that are not settled yet. */
  waiting(): number
  /** A time before every event that is stored from now on. */
  lowerBound(clock: Clock): Microseconds
  /** True from a failed attempt to the next successful one. */
  isDown(): boolean
  /** `undefined` unless the store is down. */
  outage(): Outage | undefined
  /** Resolves when all drafts added before are settled. */
  flush(): Promise<void>
  /** Aborts a replay of the journal, and resolves when nothing is in flight. `add` must not be called afterwards. */
  close(): Promise<void>
}

export interface RecorderDependencies {
  readonly observer: DraftOutcomes
  /** Required by the policy `queue`. */
  readonly journaling?: Journaling | undefined
  /** Awaited before each attempt to append drafts with throttles. */
  readonly beforeThrottled?: ((signal: AbortSignal) => Promise<void>) | undefined
}

/**
 * Group commit without a timer: the first draft schedules a batch for the end of the event loop turn;
 * all drafts added while a batch is in flight form the next one. A draft that is not stored within
 * its deadline is settled by its failure policy, and is stored later only from the journal.
 */
export function createRecorder(
  store: EventStore,
  options: RecorderOptions,
  { observer, journaling, beforeThrottled }: RecorderDependencies,
): Recorder {
  const { deadlineMs } = options
  const queueLimits = createQueueLimits(store.name, options)
  const enlisting = createEnlisting(store, queueLimits, observer)
  const queue = createQueue()
  const availability = createAvailability()
  const appender = createAppender(store, availability, beforeThrottled)
  const common = {
    store,
    deadlineMs,
    queueLimits,
    queue,
    availability,
    appender,
    journaling,
    observer,
  }
  const settlement = createSettlement(common)
  const deadlines = createDeadlines(queue, settlement, appender)
  const admit = createAdmission({ ...common, settlement, deadlines })
  const loop = createWriteLoop({
    ...common,
    settlement,
    attempt: createCommitter({ ...common, settlement, deadlines }),
    replay: createJournalReplay(common),
  })
  journaling?.onDue(() => loop.start())

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
        if (admit(entry, full)) loop.start()
      })
    },
    enlist: (draft, transaction, given) => enlisting.enlist(draft, transaction, given),
    hold: (draft) => queueLimits.reserve(Buffer.byteLength(draft.json)),
    waiting: () => queueLimits.calls(),
    lowerBound: (clock) => appender.lowerBound(clock),
    isDown: () => availability.isDown(),
    outage: () => availability.outage(),
    async flush() {
      const settled = settlementsOf(queue.all())
      // Settles entries at once, so it comes after their promises.
      journaling?.flush()
      await Promise.all([enlisting.flush(), ...settled])
    },
    async close() {
      await loop.close()
      deadlines.close()
    },
  }
}

/** A promise for each entry that is not settled yet, which resolves when it is. */
function settlementsOf(entries: readonly QueueEntry[]): Promise<void>[] {
  return entries
    .filter(({ stage }) => stage !== 'settled')
    .map((entry) => new Promise((resolve) => (entry.onSettled ??= []).push(resolve)))
}

interface AdmissionDependencies {
  readonly store: EventStore
  readonly queueLimits: QueueLimits
  readonly queue: Queue
  readonly availability: Availability
  readonly deadlines: Deadlines
  readonly settlement: Settlement
  readonly journaling: Journaling | undefined
}

/**
 * Puts a new entry into the queue and returns true; or gives it to the journal or drops it, by its
 * policy, and returns false. `full` is the error if the queue has no room.
 */
type Admit = (entry: QueueEntry, full: AuditLogError | undefined) => boolean

function createAdmission({
  store,
  queueLimits,
  queue,
  availability,
  deadlines,
  settlement,
  journaling,
}: AdmissionDependencies): Admit {
  // An earlier entry that may still go to the journal has to get there first.
  const goesToJournal = (): boolean =>
    (availability.skipsStore() || journaling!.length() > 0) && !queue.hasJournalBound()

  return (entry, full) => {
    const { policy, signal } = entry
    availability.on('callAdded')
    if (policy === 'queue' && (full || goesToJournal())) {
      settlement.toJournal(entry)
      return false
    }
    // While the store is down, one event at a time tries it.
    if (policy === 'drop' && (full || (availability.isDown() && queueLimits.total() > 1))) {
      const error =
        full ?? new AuditLogError('STORE_FAILED', `the ${store.name} store is unavailable`)
      settlement.drop(entry, error)
      return false
    }
    if (signal) {
      // Once the entry is part of an attempt, only the outcome shows whether the event is stored.
      entry.onAbort = () => {
        if (queue.holds(entry)) settlement.reject(entry, abortedError(signal))
      }
      signal.addEventListener('abort', entry.onAbort, { once: true })
    }
    queue.push(entry)
    deadlines.watch(entry.deadline)
    return true
  }
}

import { createFirstTimer, type FirstTimer } from '../async/timers.js'
import { AuditLogError, outcomeUnknown } from '../errors.js'
import type { IdSuffix } from '../event/event-id.js'
import type { Clock } from '../event/timestamp.js'
import type { EventStore } from '../store/store.js'
import type { Availability } from './availability.js'
import { isPolicyError } from './failure-policy.js'
import type { Journaling } from './journaling.js'
import type { DraftOutcomes } from './outcomes.js'
import { dueAt, isOpen, type Queue, type QueueEntry, type QueueLimits } from './queue.js'

/** State that the parts of a recorder share. */
export interface Recording {
  readonly store: EventStore
  readonly now: Clock
  readonly deadlineMs: number
  readonly queue: Queue
  readonly queueLimits: QueueLimits
  readonly availability: Availability
  /** Required by the policy `queue`. */
  readonly journaling: Journaling | undefined
  readonly outcomes: DraftOutcomes
  /**
   * Suffixes of drafts in flight or in the journal. After a failed attempt they are appended again. So a store need
   * not remove such a draft if it does not know whether it has stored it.
   */
  readonly retriedLater: Set<IdSuffix>
}

/** Settles entries: the outcome is noted first, then the call resolves or rejects. */
export interface Settlement {
  /** Counts the entry as settled: the store has the event, or will never store it. */
  finish(entry: QueueEntry): void
  reject(entry: QueueEntry, error: AuditLogError): void
  drop(entry: QueueEntry, error: AuditLogError): void
  /** Resolves the call once the event is in the journal. Rejects the call if the journal refuses the event. */
  toJournal(entry: QueueEntry): void
  /** Moves waiting entries with the policy `queue` to the journal, to keep them ahead of newer ones. */
  allToJournal(): void
  /** Applies the failure policy of an entry that was not stored. */
  fail(entry: QueueEntry, error: AuditLogError): void
  /** Like `fail`, after the deadline. The message ends with `reason`. */
  expire(entry: QueueEntry, cause?: unknown, reason?: string): void
}

export function createSettlement({
  store,
  deadlineMs,
  queue,
  queueLimits,
  availability,
  journaling,
  outcomes,
  retriedLater,
}: Recording): Settlement {
  const leaveQueue = (entry: QueueEntry): void => {
    entry.stage = 'settled'
    queueLimits.remove(entry.bytes, entry.isOwn)
    if (entry.onAbort) entry.signal?.removeEventListener('abort', entry.onAbort)
    for (const flushed of entry.onSettled ?? []) flushed()
  }
  const finish = (entry: QueueEntry): void => {
    leaveQueue(entry)
    // Only drafts of this policy were added.
    if (entry.policy === 'queue') retriedLater.delete(entry.draft.suffix)
  }
  const withDoubt = ({ isInDoubt }: QueueEntry, error: AuditLogError): AuditLogError => {
    if (!isInDoubt) return error
    const what = `the ${store.name} store may have written the event, but did not confirm in time that it is kept`
    return outcomeUnknown(what, error)
  }
  const reject = (entry: QueueEntry, cause: AuditLogError): void => {
    const error = withDoubt(entry, cause)
    finish(entry)
    outcomes.rejected(entry.draft, error)
    entry.reject(error)
  }
  const drop = (entry: QueueEntry, error: AuditLogError): void => {
    finish(entry)
    outcomes.dropped(entry.draft, error)
    entry.resolve(undefined)
  }

  const toJournal = (entry: QueueEntry): void => {
    entry.stage = 'journalling'
    availability.on('journalWriteStarted')
    // A replayed event is not live, because its process may have ended before.
    const draft = entry.draft.live ? { ...entry.draft, live: undefined } : entry.draft
    journaling!.add({ draft, recordedAt: entry.calledAt!, since: entry.since }, (error) => {
      availability.onJournalWriteEnded(error !== undefined)
      if (error) return reject(entry, error)
      // The draft stays in `retriedLater` until it is replayed.
      leaveQueue(entry)
      outcomes.journalled(entry.draft)
      entry.resolve(undefined)
    })
  }

  const fail = (entry: QueueEntry, cause: AuditLogError): void => {
    if (!isOpen(entry)) return
    const error = withDoubt(entry, cause)
    if (!isPolicyError(error) || entry.policy === 'block') return reject(entry, error)
    if (entry.policy === 'drop') return drop(entry, error)
    toJournal(entry)
  }

  return {
    finish,
    reject,
    drop,
    toJournal,
    allToJournal() {
      if (!journaling) return
      for (const entry of queue.extract(({ policy }) => policy === 'queue'))
        if (entry.stage !== 'settled') toJournal(entry)
    },
    fail,
    expire(entry, cause, reason = '') {
      availability.on('storeFailed')
      const message = `the ${store.name} store did not take the event within ${deadlineMs} ms`
      fail(entry, new AuditLogError('DEADLINE_EXCEEDED', message + reason, { cause }))
    },
  }
}

/** Enforces the deadlines of all entries with one timer. */
export function createDeadlines(
  { queue }: Recording,
  settlement: Settlement,
  abortAttempt: () => void,
): FirstTimer {
  return createFirstTimer((now) => {
    const isDue = dueAt(now)
    const dueInFlight = queue.inFlight().filter(isDue)
    if (dueInFlight.some(({ stage }) => stage === 'waiting')) abortAttempt()
    const unconfirmed = dueInFlight.filter(({ stage }) => stage === 'stored')
    for (const entry of unconfirmed) settlement.expire(entry)
    // The loop that writes batches may be waiting for the unavailable store.
    if (unconfirmed.length > 0 && !queue.fliesJournalBound()) settlement.allToJournal()
    // Entries for the journal stay, because the older batch in flight has to get there first.
    const due = queue.extract((entry) => isDue(entry) && entry.policy !== 'queue')
    for (const entry of due) if (entry.stage !== 'settled') settlement.expire(entry)
    let next = Infinity
    // A due entry that is still present waits for the batch in flight, and needs no timer.
    for (const { deadline } of queue.all()) if (deadline > now && deadline < next) next = deadline
    return next
  })
}

import type { Availability } from './availability.js'
import { AuditLogError, outcomeUnknown } from '../errors.js'
import type { EventDraft } from '../event/event.js'
import type { Appender } from './appender.js'
import { isPolicyError } from './failure-policy.js'
import type { Journaling } from './journaling.js'
import { isOpen, type Queue, type QueueEntry } from './queue.js'
import type { QueueLimits } from './queue-limits.js'
import type { EventStore } from '../store/store.js'

/** Settles entries: first the observer is called, then the call resolves or rejects. */
export interface Settlement {
  /** Counts the entry as settled: the store has the event, or it never will. */
  finish(entry: QueueEntry): void
  reject(entry: QueueEntry, error: AuditLogError): void
  drop(entry: QueueEntry, error: AuditLogError): void
  /** Resolves the call once the event is in the journal; rejects it if the journal refuses. */
  toJournal(entry: QueueEntry): void
  /** Moves waiting entries with the policy `queue` to the journal, to keep them ahead of newer ones. */
  allToJournal(queue: Queue): void
  /** Applies the failure policy of an entry that was not stored. */
  fail(entry: QueueEntry, error: AuditLogError): void
  /** As `fail`, after the deadline. `reason` is appended to the message. */
  expire(entry: QueueEntry, cause?: unknown, reason?: string): void
}

export interface SettlementDependencies {
  readonly store: EventStore
  readonly deadlineMs: number
  readonly queueLimits: QueueLimits
  readonly availability: Availability
  readonly appender: Appender
  /** Required by the policy `queue`. */
  readonly journaling: Journaling | undefined
  readonly observer: {
    rejected(draft: EventDraft, error: AuditLogError): void
    dropped(draft: EventDraft, error: AuditLogError): void
    journalled(draft: EventDraft): void
  }
}

export function createSettlement({
  store,
  deadlineMs,
  queueLimits,
  availability,
  appender,
  journaling,
  observer,
}: SettlementDependencies): Settlement {
  const leaveQueue = (entry: QueueEntry): void => {
    entry.stage = 'settled'
    queueLimits.remove(entry.bytes, entry.isOwn)
    if (entry.onAbort) entry.signal?.removeEventListener('abort', entry.onAbort)
    for (const flushed of entry.onSettled ?? []) flushed()
  }
  const finish = (entry: QueueEntry): void => {
    leaveQueue(entry)
    // The others were never added.
    if (entry.policy === 'queue') appender.retriedLater.delete(entry.draft.suffix)
  }
  const withDoubt = ({ isInDoubt }: QueueEntry, error: AuditLogError): AuditLogError => {
    if (!isInDoubt) return error
    const what = `the ${store.name} store wrote the event, but did not confirm in time that it is kept`
    return outcomeUnknown(what, error)
  }
  const reject = (entry: QueueEntry, cause: AuditLogError): void => {
    const error = withDoubt(entry, cause)
    finish(entry)
    observer.rejected(entry.draft, error)
    entry.reject(error)
  }
  const drop = (entry: QueueEntry, error: AuditLogError): void => {
    finish(entry)
    observer.dropped(entry.draft, error)
    entry.resolve(undefined)
  }

  const toJournal = (entry: QueueEntry): void => {
    entry.stage = 'journalling'
    availability.on('journalWriteStarted')
    // A replayed event is not live: its process may have ended by then.
    const draft = entry.draft.live ? { ...entry.draft, live: undefined } : entry.draft
    journaling!.add({ draft, recordedAt: entry.calledAt!, since: entry.since }, (error) => {
      availability.onJournalWriteEnded(error !== undefined)
      if (error) return reject(entry, error)
      // The draft stays in `retriedLater` until it is replayed.
      leaveQueue(entry)
      observer.journalled(entry.draft)
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
    allToJournal(queue) {
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

import type { Availability } from './availability.js'
import type { Deadlines } from './deadlines.js'
import { abortedError, AuditLogError } from '../errors.js'
import type { Journaling } from './journaling.js'
import type { Queue, QueueEntry } from './queue.js'
import type { QueueLimits } from './queue-limits.js'
import type { Settlement } from './settlement.js'
import type { EventStore } from '../store/store.js'

export interface AdmissionDependencies {
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
export type Admit = (entry: QueueEntry, full: AuditLogError | undefined) => boolean

export function createAdmission({
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

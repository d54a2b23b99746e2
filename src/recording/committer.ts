import type { Appended, Appender } from './appender.js'
import type { Availability } from './availability.js'
import { type Deadlines, dueAt } from './deadlines.js'
import { newEvents, searchStart } from './earlier-attempts.js'
import { abortedError, type AuditLogError, isOutcomeUnknown } from '../errors.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { Journaling } from './journaling.js'
import { isOpen, type QueueEntry } from './queue.js'
import type { Settlement } from './settlement.js'
import { asStoreFailure, reasonOf } from './store-failure.js'
import type { EventStore } from '../store/store.js'

export interface CommitterDependencies {
  readonly store: EventStore
  readonly journaling: Journaling | undefined
  readonly appender: Appender
  readonly availability: Availability
  readonly deadlines: Deadlines
  readonly settlement: Settlement
  readonly observer: {
    stored(events: readonly AuditEvent[], drafts: readonly EventDraft[]): void
    heldBack(draft: EventDraft, opensIn: Microseconds): void
  }
}

/** The result of an attempt to store a batch. */
export interface Attempted {
  readonly isStored: boolean
  /** Settles the calls of the batch, unless that is done. To be called within a turn of the event loop. */
  readonly settle: (() => void) | undefined
  /** The entries that have to be tried again. */
  readonly again: readonly QueueEntry[]
}

/** Tries to store a batch once. `onStored` is called if it is stored before it is durable. */
export type Attempt = (batch: readonly QueueEntry[], onStored: () => void) => Promise<Attempted>

const NONE: readonly never[] = []

/** Settles the calls of a batch that is stored and durable. */
function settle(
  { settlement, observer }: CommitterDependencies,
  batch: readonly QueueEntry[],
  appended: Appended,
): void {
  const { heldBack: times } = appended
  let { events } = appended
  let storedEntries = times.size === 0 ? batch : batch.filter(({ draft }) => !times.has(draft))
  const heldBack =
    times.size === 0 ? NONE : batch.filter((entry) => isOpen(entry) && times.has(entry.draft))
  // The others have expired before the disk confirmed the batch.
  if (!storedEntries.every(isOpen)) {
    const entries = storedEntries
    events = events.filter((_, i) => isOpen(entries[i]!))
    storedEntries = entries.filter(isOpen)
  }
  for (const entry of heldBack) {
    settlement.finish(entry)
    observer.heldBack(entry.draft, times.get(entry.draft)!)
  }
  for (const entry of storedEntries) settlement.finish(entry)
  const stored = storedEntries.map((entry) => entry.draft)
  if (stored.length > 0) observer.stored(newEvents(events, storedEntries), stored)
  for (const [i, entry] of storedEntries.entries()) entry.resolve(events[i])
  for (const entry of heldBack) entry.resolve(undefined)
}

/** What follows a failed attempt. */
function fail(
  { settlement, availability }: CommitterDependencies,
  batch: readonly QueueEntry[],
  failure: AuditLogError,
  signal: AbortSignal,
): Attempted {
  const isDue = dueAt(performance.now())
  const isUnknown = isOutcomeUnknown(failure)
  const isVisible = batch.some(({ stage }) => stage === 'stored')
  if (isUnknown) for (const entry of batch) entry.isInDoubt = true
  const isOver = isUnknown && !isVisible && (signal.aborted || batch.some(isDue))
  if (failure.code !== 'ABORTED' && !isOver) {
    availability.on('storeFailed')
    const settleAll = (): void => {
      for (const entry of batch) settlement.fail(entry, failure)
    }
    return { isStored: false, settle: settleAll, again: NONE }
  }
  const reason = reasonOf(failure, signal)
  const isForJournal = ({ policy }: QueueEntry): boolean => policy === 'queue'
  const lastDue = batch.findLastIndex((entry) => isForJournal(entry) && isDue(entry))
  for (const [i, entry] of batch.entries()) {
    if (isDue(entry)) settlement.expire(entry, failure, reason)
    else if (entry.signal?.aborted) settlement.reject(entry, abortedError(entry.signal))
    // Older calls get into the journal first.
    else if (i < lastDue && isForJournal(entry)) settlement.toJournal(entry)
  }
  const again = batch.filter(({ stage }) => stage === 'waiting')
  return { isStored: false, settle: undefined, again }
}

export function createCommitter(dependencies: CommitterDependencies): Attempt {
  const { store, journaling, appender, deadlines } = dependencies
  /** The earliest deadline of the batch. Notes which drafts may come again from the journal. */
  const prepare = (batch: readonly QueueEntry[]): number => {
    let deadline = Infinity
    for (const entry of batch) {
      if (entry.deadline < deadline) deadline = entry.deadline
      if (entry.policy !== 'queue') continue
      entry.since ??= appender.lowerBound(journaling!.now)
      appender.retriedLater.add(entry.draft.suffix)
    }
    return deadline
  }

  const commit = (
    batch: readonly QueueEntry[],
    signal: AbortSignal,
    onStored: () => void,
  ): Promise<Appended> => {
    const deadline = prepare(batch)
    deadlines.watch(deadline)
    const drafts = batch.map((entry) => entry.draft)
    return appender.append(drafts, { signal, deadline, since: searchStart(batch), onStored })
  }

  return async (batch, onStored) => {
    const signal = appender.startAttempt()
    const noteStored = (): void => {
      for (const entry of batch) {
        entry.stage = 'stored'
        entry.isInDoubt = true
      }
      onStored()
    }
    try {
      const appended = await commit(batch, signal, noteStored)
      return { isStored: true, settle: () => settle(dependencies, batch, appended), again: NONE }
    } catch (error) {
      return fail(dependencies, batch, asStoreFailure(store, error), signal)
    }
  }
}

import type { Appender } from './appender.js'
import type { Availability } from './availability.js'
import { timerDelay } from '../async/timers.js'
import { uniqueDrafts } from './earlier-attempts.js'
import type { AuditEvent, EventDraft } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import type { Journaling } from './journaling.js'
import type { EventStore } from '../store/store.js'

export interface JournalReplayDependencies {
  readonly journaling: Journaling | undefined
  readonly appender: Appender
  readonly availability: Availability
  readonly store: EventStore
  readonly deadlineMs: number
  readonly observer: {
    replayed(
      events: readonly AuditEvent[],
      drafts: readonly EventDraft[],
      heldBack: ReadonlyMap<EventDraft, Microseconds>,
    ): void
  }
}

/** Moves the drafts of the journal to the store, oldest first. */
export interface JournalReplay {
  isDue(): boolean
  /** Tries once to store the oldest drafts. Never rejects. */
  attempt(): Promise<void>
  /** From now on nothing is due. */
  stop(): void
}

export function createJournalReplay({
  journaling,
  appender,
  availability,
  store,
  deadlineMs,
  observer,
}: JournalReplayDependencies): JournalReplay {
  const { retriedLater } = appender
  let isStopped = false
  return {
    isDue: () => !isStopped && journaling?.isDue() === true,
    async attempt() {
      const signal = appender.startAttempt()
      const deadline = performance.now() + deadlineMs
      const timer = setTimeout(() => appender.abortAttempt(), timerDelay(deadlineMs)).unref()
      try {
        const floor = appender.lowerBound(journaling!.now)
        await journaling!.replay(store.maxBatch, floor, async (journalled, since) => {
          const drafts = uniqueDrafts(journalled)
          for (const { suffix } of drafts) retriedLater.add(suffix)
          const { events, heldBack } = await appender.append(drafts, { signal, deadline, since })
          return () => {
            for (const { suffix } of drafts) retriedLater.delete(suffix)
            observer.replayed(events, drafts, heldBack)
          }
        })
      } catch {
        availability.on('storeFailed')
      } finally {
        clearTimeout(timer)
      }
    },
    stop: () => void (isStopped = true),
  }
}

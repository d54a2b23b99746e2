import type { AuditEvent, EventDraft } from '../event/event.js'
import type { IdSuffix } from '../event/event-id.js'
import { type Clock, type Microseconds, parseTimestamp } from '../event/timestamp.js'
import type { AppendOptions, EventStore } from '../store/store.js'
import type { Availability } from './availability.js'

export interface Appended {
  /** The events of the drafts that were not suppressed, in order. */
  readonly events: readonly AuditEvent[]
  /** Drafts with a closed throttle, and the time until it opens. */
  readonly heldBack: ReadonlyMap<EventDraft, Microseconds>
}

/** Appends drafts to the store. Only one attempt at a time has not stored its drafts. */
export interface Appender {
  /**
   * Suffixes of the drafts, in flight or in the journal, that are appended again if this attempt fails.
   * A store that does not know whether it stored one of them need not remove it.
   */
  readonly retriedLater: Set<IdSuffix>
  /** The signal of the next attempt. */
  startAttempt(): AbortSignal
  abortAttempt(): void
  append(
    drafts: readonly EventDraft[],
    options: AppendOptions & { readonly signal: AbortSignal },
  ): Promise<Appended>
  /** A time before every event that this process stores from now on. */
  lowerBound(clock: Clock): Microseconds
}

/** How far the clock of this machine may be ahead of the store's, before the first append. */
const MAX_CLOCK_LEAD: Microseconds = 86_400_000_000

export function createAppender(
  store: EventStore,
  availability: Availability,
  beforeThrottled: ((signal: AbortSignal) => Promise<void>) | undefined,
): Appender {
  const retriedLater = new Set<IdSuffix>()
  let attempt = new AbortController()
  /** The greatest `created_at` that an append of this process has returned. */
  let newest: string | undefined
  return {
    retriedLater,
    startAttempt() {
      if (attempt.signal.aborted) attempt = new AbortController()
      return attempt.signal
    },
    abortAttempt: () => attempt.abort(),
    async append(drafts, options) {
      const heldBack = new Map<EventDraft, Microseconds>()
      if (beforeThrottled && drafts.some((draft) => draft.throttle))
        await beforeThrottled(options.signal)
      const onSuppressed = (draft: EventDraft, opensIn: Microseconds): void =>
        void heldBack.set(draft, opensIn)
      const events = await store.append(drafts, { ...options, retriedLater, onSuppressed })
      availability.on('storeSucceeded')
      const last = events.at(-1)
      // An event that an earlier attempt stored may be older than the newest.
      if (last && (newest === undefined || last.created_at > newest)) newest = last.created_at
      return { events, heldBack }
    },
    lowerBound: (clock) =>
      newest === undefined ? clock() - MAX_CLOCK_LEAD : parseTimestamp(newest)!,
  }
}

import type { AuditEvent } from '../event/event.js'
import { filterInTurns } from '../filter/time-slices.js'
import type { TailFilter } from '../tail/poll.js'
import type { Batch } from '../tail/ring.js'
import type { SharedTail, View } from '../tail/shared-tail.js'

export interface SizedEvent {
  readonly event: AuditEvent
  /** Length of the event as JSON; 0 unless the feed is read with `isMeasured`. */
  readonly bytes: number
}

/** The next part of the log. */
export interface FeedPage {
  /** Those that match, in order. */
  readonly events: readonly SizedEvent[]
  /** Every matching event up to here is in this page or in one before it. */
  readonly position: string
}

export interface FeedOptions {
  readonly after: string
  readonly signal: AbortSignal
  /** Whether the events have their bytes. */
  readonly isMeasured: boolean
}

/** Makes pages also of events that do not match, so that a position can pass them. */
function viewOf(filter: TailFilter, isMeasured: boolean): View<FeedPage> {
  const sized = (event: AuditEvent): SizedEvent => ({
    event,
    bytes: isMeasured ? Buffer.byteLength(JSON.stringify(event)) : 0,
  })
  return {
    ...filter,
    async ofBatch({ entries, last }: Batch, position) {
      const later = entries.filter(({ event }) => event.created_at > position)
      const matching = await filterInTurns(later, ({ event }) => filter.matches(event))
      return { events: matching.map(({ event }) => sized(event)), position: last }
    },
    ofEvents(events) {
      if (events.length === 0) return []
      return [{ events: events.map(sized), position: events.at(-1)!.created_at }]
    },
  }
}

/** The matching events after a position, until the signal aborts. Events of the last seconds are frozen. */
export async function* readFeed(
  tail: SharedTail,
  filter: TailFilter,
  { isMeasured, ...options }: FeedOptions,
): AsyncGenerator<FeedPage, void, void> {
  yield* await tail.read(viewOf(filter, isMeasured), options)
}

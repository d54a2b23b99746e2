import type { AuditEvent } from '../event/event.js'
import type { Concealment } from '../filter/conceal.js'
import type { Batch } from '../tail/ring.js'
import type { KeyedFilter } from '../tail/selections.js'
import type { SharedTail, View } from '../tail/shared-tail.js'

export interface SizedEvent {
  readonly event: AuditEvent
  /** Length of the event as JSON; 0 unless the feed is read with `isMeasured`. */
  readonly bytes: number
}

/** The next part of the log. */
export interface FeedPage {
  /** The matching events, in order. */
  readonly events: readonly SizedEvent[]
  /** The cursor after this page. This page and earlier pages have every matching event up to it. */
  readonly cursor: string
  /** Set if the log has lost the events after the cursor. */
  readonly isRewind?: true
}

export interface FeedOptions {
  readonly after: string
  readonly signal: AbortSignal
  /** True if the events have their bytes. */
  readonly isMeasured: boolean
}

/** Selection of the events of a subscription. */
export interface FeedFilter extends KeyedFilter {
  /**
   * True for a matching event that this subscription does not get. Other subscriptions with the same key may get it.
   */
  readonly isLeftOut: (event: AuditEvent) => boolean
  /** The view in which the events are delivered. */
  readonly concealed?: Concealment | undefined
}

/** Makes pages also of events that do not match, so that a cursor can pass them. */
function viewOf(
  filter: FeedFilter,
  { selections }: SharedTail,
  isMeasured: boolean,
): View<FeedPage> {
  const { where, matches, isLeftOut, concealed } = filter
  const sized = (found: AuditEvent): SizedEvent => {
    const event = concealed ? concealed.event(found) : found
    return { event, bytes: isMeasured ? Buffer.byteLength(JSON.stringify(event)) : 0 }
  }
  return {
    where,
    matches: (event) => !isLeftOut(event) && matches(event),
    async ofBatch(batch: Batch, cursor) {
      const matching = await selections.of(batch, filter, cursor)
      const events = matching.flatMap(({ event }) => (isLeftOut(event) ? [] : [sized(event)]))
      return { events, cursor: batch.last }
    },
    ofRewind: (cursor) => ({ events: [], cursor, isRewind: true }),
    ofEvents(events) {
      if (events.length === 0) return []
      return [{ events: events.map(sized), cursor: events.at(-1)!.created_at }]
    },
  }
}

/** The matching events after a cursor, until the signal aborts. Events of the last seconds are frozen. */
export async function* readFeed(
  tail: SharedTail,
  filter: FeedFilter,
  { isMeasured, ...options }: FeedOptions,
): AsyncGenerator<FeedPage, void, void> {
  yield* await tail.read(viewOf(filter, tail, isMeasured), options)
}

import { timeoutSignal } from '../../async/timeout-signal.js'
import type { AuditEvent } from '../../event/event.js'
import type { EventQuery } from '../../filter/ast.js'
import { decideInTurns } from '../../filter/time-slices.js'
import { pageCollector } from '../../store-kit/collect.js'
import type { Broadcast } from '../stream/broadcast.js'
import type { StreamView } from '../stream/chunks.js'
import type { EventPage } from '../../store/store.js'

export interface LongPollOptions {
  readonly broadcast: Broadcast
  /** The events to wait for: the filter of `query`. */
  readonly view: StreamView
  readonly query: EventQuery
  readonly seconds: number
  /** Queries the store. */
  readonly list: () => Promise<EventPage>
  /** Ends the wait. */
  readonly signal: AbortSignal
}

async function pageOf(events: readonly AuditEvent[], query: EventQuery): Promise<EventPage> {
  const collector = pageCollector(query)
  const scanned = collector.direction === 'desc' ? events.toReversed() : events
  await decideInTurns(scanned, collector.add)
  return collector.page()
}

/**
 * The current page; if it is empty, a page of the first matching events within `seconds`. Any number of
 * clients can wait without additional queries.
 */
export async function longPoll(options: LongPollOptions): Promise<EventPage> {
  const { broadcast, view, query, seconds, list, signal } = options
  const wait = timeoutSignal(seconds * 1000, signal)
  try {
    // Subscribe before the query, so that no event is missed between the two.
    const chunks = await broadcast.read(view, { signal: wait.signal })
    const page = await list()
    if (page.events.length > 0) return page
    const { value: first } = await chunks.next()
    // The page was empty, so these are all matching events.
    if (first) return await pageOf(first.events, query)
    // Changed live events and imported events may match now; the broadcast does not send those.
    return signal.aborted ? page : await list()
  } finally {
    wait.end()
  }
}

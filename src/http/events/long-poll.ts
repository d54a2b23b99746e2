import { timeoutSignal } from '../../async/timeout-signal.js'
import type { AuditEvent } from '../../event/event.js'
import type { EventQuery } from '../../filter/ast.js'
import { decideInTurns } from '../../filter/time-slices.js'
import { pageCollector } from '../../store-kit/collect.js'
import type { Broadcast } from '../stream/broadcast.js'
import type { StreamView } from '../stream/chunks.js'
import type { EventPage } from '../../store/store.js'

interface Wait<Page> {
  readonly seconds: number
  /** Queries the store. */
  readonly list: () => Promise<Page>
  /** Ends the wait. */
  readonly signal: AbortSignal
}

interface FollowedWait<Page, Batch> extends Wait<Page> {
  /** Follows the matching events until the signal aborts. */
  readonly follow: (signal: AbortSignal) => Promise<AsyncGenerator<Batch, void, void>>
  /** Makes the page of the first matching events, if there were none before. @default queries the store again */
  readonly pageOf?: (batch: Batch) => Promise<Page>
}

/** The current page. If it is empty, the page at the time when the first event matches, at the latest after `seconds`. */
export async function waitForPage<Page extends { readonly events: readonly unknown[] }, Batch>({
  seconds,
  list,
  signal,
  follow,
  pageOf,
}: FollowedWait<Page, Batch>): Promise<Page> {
  const wait = timeoutSignal(seconds * 1000, signal)
  let batches: AsyncGenerator<Batch, void, void> | undefined
  try {
    // Subscribe before the query, so that no event is missed between the two.
    batches = await follow(wait.signal)
    let page = await list()
    for (let isOver = false; page.events.length === 0 && !isOver;) {
      const { done = false, value: batch } = await batches.next()
      if (batch && pageOf) return await pageOf(batch)
      isOver = done || wait.signal.aborted
      // At the end too: changed live events and imported events are not followed, and may match now.
      if (!signal.aborted) page = await list()
    }
    return page
  } finally {
    wait.end()
    await batches?.return()
  }
}

export interface LongPollOptions extends Wait<EventPage> {
  readonly broadcast: Broadcast
  /** The events to wait for: the filter of `query`. */
  readonly view: StreamView
  readonly query: EventQuery
}

async function pageOf(events: readonly AuditEvent[], query: EventQuery): Promise<EventPage> {
  const collector = pageCollector(query)
  const scanned = collector.direction === 'desc' ? events.toReversed() : events
  await decideInTurns(scanned, collector.add)
  return collector.page()
}

/** The page of one log. Any number of clients can wait without additional queries. */
export const longPoll = ({
  broadcast,
  view,
  query,
  ...wait
}: LongPollOptions): Promise<EventPage> =>
  waitForPage({
    ...wait,
    follow: (signal) => broadcast.read(view, { signal }),
    pageOf: ({ events }) => pageOf(events, query),
  })

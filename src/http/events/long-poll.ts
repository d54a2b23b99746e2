import type { AuditEvent } from '../../event/event.js'
import type { EventQuery } from '../../filter/ast.js'
import { pageCollector } from '../../store-kit/collect.js'
import type { Broadcast } from '../stream/broadcast.js'
import type { StreamView } from '../stream/chunks.js'
import type { EventPage } from '../../store/store.js'

export interface LongPollOptions {
  readonly broadcast: Broadcast
  /** What is waited for; the query is the same, with sorts and limit. */
  readonly view: StreamView
  readonly query: EventQuery
  readonly seconds: number
  /** Asks the store. */
  readonly list: () => Promise<EventPage>
  /** Gives up. */
  readonly signal: AbortSignal
}

function pageOf(events: readonly AuditEvent[], query: EventQuery): EventPage {
  const collector = pageCollector(query)
  const scanned = collector.direction === 'desc' ? events.toReversed() : events
  for (const event of scanned) if (collector.add(event)) break
  return collector.page()
}

/**
 * The page that the store has now; where it is empty, that of what matches first within the time, which
 * costs no query however many wait for it.
 */
export async function longPoll(waiting: LongPollOptions): Promise<EventPage> {
  const { broadcast, view, query, seconds, list, signal } = waiting
  const stop = new AbortController()
  const end = (): void => stop.abort()
  const over = performance.now() + seconds * 1000
  let timer: NodeJS.Timeout | undefined
  if (signal.aborted) end()
  else signal.addEventListener('abort', end)
  try {
    // Before the store is asked, so that nothing falls between the two.
    const chunks = await broadcast.read(view, { signal: stop.signal })
    const page = await list()
    if (page.events.length > 0) return page
    timer = setTimeout(end, over - performance.now())
    const { value: first } = await chunks.next()
    // Nothing matched before: these are all that match.
    if (first) return pageOf(first.events, query)
    // Live events may have come to match, and imported ones, which nobody is told of.
    return signal.aborted ? page : await list()
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', end)
    end()
  }
}

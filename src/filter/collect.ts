import type { AuditEvent } from '../event.js'
import type { EventPage } from '../store.js'
import type { EventQuery } from './ast.js'
import { scanDirection, topEvents } from './order.js'

/** Builds a page out of the matching events that a store's scan meets. */
export interface PageCollector {
  /** The direction in time in which the scan must run. */
  readonly direction: 'asc' | 'desc'
  /** Takes a match; true once no further one can change the page. */
  add(event: AuditEvent): boolean
  page(): EventPage
}

/** One event more than the limit is kept: it tells that the page was cut. */
export function pageCollector(query: EventQuery): PageCollector {
  const { sorts, limit } = query
  const direction = scanDirection(sorts)
  if (direction === undefined) {
    const top = topEvents(sorts, limit + 1)
    return {
      direction: 'desc',
      add(event) {
        top.add(event)
        return false
      },
      page: () => cut(top.inOrder(), limit),
    }
  }
  const met: AuditEvent[] = []
  return {
    direction,
    add: (event) => met.push(event) > limit,
    page() {
      const { events, truncated } = cut(met, limit)
      return { events: sorts.length === 0 ? events.toReversed() : events, truncated }
    },
  }
}

function cut(events: readonly AuditEvent[], limit: number): EventPage {
  return { events: events.slice(0, limit), truncated: events.length > limit }
}

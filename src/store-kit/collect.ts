import type { AuditEvent } from '../event/event.js'
import type { EventPage } from '../store/store.js'
import type { EventQuery } from '../filter/ast.js'
import { scanDirection, topEvents, type TopItems } from '../filter/order.js'

/** Builds a page out of the matches that a scan meets. */
export interface Collector<Page, Item> {
  /** Takes a match; true once no further one can change the page. */
  add(item: Item): boolean
  page(): Page
}

export interface ItemPage<Item> {
  readonly items: readonly Item[]
  /** True when more matched than the limit let through. */
  readonly truncated: boolean
}

/** The first that come. One item more than the limit is kept: it tells that the page was cut. */
export function firstItems<Item>(limit: number): Collector<ItemPage<Item>, Item> {
  const met: Item[] = []
  return {
    add: (item) => met.push(item) > limit,
    page: () => cut(met, limit),
  }
}

/** The first of an order, whose `top` keeps one item more than the limit. */
export function firstInOrder<Item>(
  top: TopItems<Item>,
  limit: number,
): Collector<ItemPage<Item>, Item> {
  return {
    add(item) {
      top.add(item)
      return false
    },
    page: () => cut(top.inOrder(), limit),
  }
}

function cut<Item>(items: readonly Item[], limit: number): ItemPage<Item> {
  return { items: items.slice(0, limit), truncated: items.length > limit }
}

/** A page of events, for a store's scan. */
export interface EventCollector extends Collector<EventPage, AuditEvent> {
  /** The direction in time in which the scan must run. */
  readonly direction: 'asc' | 'desc'
}

export function pageCollector({ sorts, limit }: EventQuery): EventCollector {
  const direction = scanDirection(sorts)
  const items =
    direction === undefined
      ? firstInOrder(topEvents(sorts, limit + 1), limit)
      : firstItems<AuditEvent>(limit)
  return {
    direction: direction ?? 'desc',
    add: (event) => items.add(event),
    page() {
      const { items: events, truncated } = items.page()
      return { events: sorts.length === 0 ? events.toReversed() : events, truncated }
    },
  }
}

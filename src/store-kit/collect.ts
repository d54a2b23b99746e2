import type { AuditEvent } from '../event/event.js'
import { createTimeSlices } from '../filter/time-slices.js'
import type { EventPage } from '../store/store.js'
import type { EventQuery } from '../filter/ast.js'
import { scanDirection, topEvents, type TopItems } from '../filter/order.js'
import { type Decide, finishSteps, type Steps } from '../filter/steps.js'

/** Builds a page from the matches of a scan. */
export interface Collector<Page, Item> {
  /** Adds a match. True once no further match can change the page. */
  readonly add: Decide<Item>
  page(): Page
}

export interface ItemPage<Item> {
  readonly items: readonly Item[]
  /** True when more items matched than the limit allows. */
  readonly truncated: boolean
}

/** Collects any number of items; making the page can pause. */
export type ItemCollector<Item> = Collector<Steps<ItemPage<Item>>, Item>

/** Collects the first matches. Keeps one more than the limit, which shows that the page is truncated. */
export function firstItems<Item>(limit: number): ItemCollector<Item> {
  const matches: Item[] = []
  return {
    add: (item) => matches.push(item) > limit,
    page: () => firstPage(matches, limit),
  }
}

/** Collects the first matches of an order. `top` has to keep one item more than the limit. */
export function firstInOrder<Item>(top: TopItems<Item>, limit: number): ItemCollector<Item> {
  return {
    add: (item) => top.add(item),
    page: () => topPage(top, limit),
  }
}

// eslint-disable-next-line require-yield
function* firstPage<Item>(items: readonly Item[], limit: number): Steps<ItemPage<Item>> {
  return truncate(items, limit)
}

function* topPage<Item>(top: TopItems<Item>, limit: number): Steps<ItemPage<Item>> {
  return truncate(yield* top.inOrder(), limit)
}

function truncate<Item>(items: readonly Item[], limit: number): ItemPage<Item> {
  return { items: items.slice(0, limit), truncated: items.length > limit }
}

/** Collects a page of events from a scan. A page that has to be sorted is a promise: sorting long texts can pause. */
export interface EventCollector extends Collector<EventPage | Promise<EventPage>, AuditEvent> {
  /** The direction in time in which the scan must run. */
  readonly direction: 'asc' | 'desc'
}

const eventPage = ({ items, truncated }: ItemPage<AuditEvent>, isReversed: boolean): EventPage => ({
  events: isReversed ? items.toReversed() : items,
  truncated,
})

const sortedPage = async (items: ItemCollector<AuditEvent>): Promise<EventPage> =>
  eventPage(await createTimeSlices().finish(items.page()), false)

export function pageCollector({ sorts, limit }: EventQuery): EventCollector {
  const direction = scanDirection(sorts)
  const items =
    direction === undefined
      ? firstInOrder(topEvents(sorts, limit + 1), limit)
      : firstItems<AuditEvent>(limit)
  return {
    direction: direction ?? 'desc',
    add: (event) => items.add(event),
    page: () =>
      direction === undefined
        ? sortedPage(items)
        : eventPage(finishSteps(items.page()), sorts.length === 0),
  }
}

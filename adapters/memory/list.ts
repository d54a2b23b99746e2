import type { AuditEvent } from '../../src/event/event.js'
import { type QueryTrace, tracedFilter } from '../../src/store/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../src/store-kit/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { type IndexFilter, indexFilter } from '../../src/store-kit/index/index-filter.js'
import {
  candidatesInTime,
  isIndexedOrder,
  takeSorted,
} from '../../src/store-kit/index/index-list.js'
import type { Order } from '../../src/store-kit/index/part.js'
import { createProbe, type Probe } from '../../src/store-kit/index/probe.js'
import { tracedView } from '../../src/store-kit/index/traced-view.js'
import type { EventPage } from '../../src/store/store.js'
import type { EventIndex } from './event-index.js'
import type { EventRange, Timeline } from './timeline.js'

/** How the store goes about its work, for tests. */
export interface MemoryTuning {
  /** Fewer events than these are looked through one by one. */
  readonly minIndexed: number
  /** So many are at first in any case. */
  readonly probe: number
}

/** What a list is read from. */
export interface Listed {
  readonly timeline: Timeline
  readonly index: EventIndex
  readonly tuning: MemoryTuning
  /** Gives others their turn. */
  readonly pause: () => Promise<void>
}

/** A list that is being answered. */
interface Answer {
  readonly listed: Listed
  readonly query: EventQuery
  readonly trace: QueryTrace | undefined
  readonly collector: EventCollector
  readonly matches: (event: AuditEvent) => boolean
  readonly bounds: TimeBounds
  /** The events between the bounds, when the list begins. */
  readonly stretch: EventRange
}

// Events that are looked at between two turns of others, and how long the index is asked.
const SLICE = 10_000
const TURN_MS = 3

/** A page of the events that match. */
export async function listEvents(
  listed: Listed,
  query: EventQuery,
  trace: QueryTrace | undefined,
): Promise<EventPage> {
  const collector = pageCollector(query)
  const bounds = timeBounds(query.where)
  const matches = tracedFilter(trace, compileFilter(query.where))
  const stretch = listed.timeline.between(bounds.from, bounds.to)
  const answer = { listed, query, trace, collector, matches, bounds, stretch }
  const direction = scanDirection(query.sorts)
  if (direction) await listInTime(answer, direction)
  else await listSorted(answer)
  return collector.page()
}

/** Along `created_at`, from the end at which the order begins. */
async function listInTime(answer: Answer, order: Order): Promise<void> {
  const { query, stretch } = answer
  const { minIndexed: leastIndexed, probe } = answer.listed.tuning
  const isIndexed = stretch.to - stretch.from >= leastIndexed
  const filter = isIndexed ? indexFilter(query.where) : undefined
  const rest = await scan(answer, order, filter && createProbe(probe))
  if (rest) await walk(answer, filter, order, rest)
}

/**
 * Looks at the events one by one, as far as a probe goes where there is one; gives what is left then, if
 * more is needed.
 */
async function scan(
  { listed, stretch: { events, times, from, to }, trace, collector, matches, bounds }: Answer,
  order: Order,
  probe?: Probe,
): Promise<TimeBounds | undefined> {
  const step = order === 'asc' ? 1 : -1
  trace?.enter(probe ? 'probe' : 'scan')
  let at = step > 0 ? from : to - 1
  for (let seen = 1; at >= from && at < to; seen++, at += step) {
    const event = events[at]!
    if (probe?.left() === 0)
      return step > 0 ? { from: times[at]!, to: bounds.to } : { from: bounds.from, to: times[at]! }
    if (matches(event)) {
      probe?.matched()
      if (collector.add(event)) return undefined
    }
    probe?.passed(1)
    if (seen % SLICE === 0) await listed.pause()
  }
  return undefined
}

/** By the index. */
async function walk(
  { listed: { index, pause }, trace, collector, matches }: Answer,
  filter: IndexFilter | undefined,
  order: Order,
  bounds: TimeBounds,
): Promise<void> {
  trace?.enter('index')
  const turn = createTimeSlices(pause)
  for (const event of candidatesInTime(
    tracedView(index.view(filter), trace),
    filter,
    order,
    bounds,
  )) {
    if (event && matches(event) && collector.add(event)) return
    if (turn.isOver()) await turn.next()
  }
}

/** In the order of attributes: by the index, but for ids, which are in none. */
async function listSorted(answer: Answer): Promise<void> {
  const { listed, query, trace, collector, matches, bounds } = answer
  const { timeline, index, tuning, pause } = listed
  if (timeline.size < tuning.minIndexed || !isIndexedOrder(query.sorts)) {
    await scan(answer, collector.direction)
    return
  }
  trace?.enter('sort')
  const take = (event: AuditEvent): boolean => {
    if (!matches(event)) return false
    collector.add(event)
    return true
  }
  const filter = indexFilter(query.where)
  const view = tracedView(index.view(filter), trace)
  const turn = createTimeSlices(pause)
  for (const _ of takeSorted(view, filter, query, bounds, take))
    if (turn.isOver()) await turn.next()
}

interface TimeSlices {
  isOver(): boolean
  /** Gives others theirs. */
  next(): Promise<void>
}

function createTimeSlices(pause: () => Promise<void>): TimeSlices {
  let end = performance.now() + TURN_MS
  return {
    isOver: () => performance.now() >= end,
    async next() {
      await pause()
      end = performance.now() + TURN_MS
    },
  }
}

import type { AuditEvent } from '../../src/event.js'
import { type QueryTrace, tracedFilter } from '../../src/explaining/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { indexFilter } from '../../src/indexing/index-filter.js'
import { candidatesInTime, isIndexedOrder, takeSorted } from '../../src/indexing/index-list.js'
import { nextProbe } from '../../src/indexing/probe.js'
import { tracedView } from '../../src/indexing/traced-view.js'
import type { EventPage } from '../../src/store.js'
import type { EventIndex } from './event-index.js'
import type { Timeline } from './timeline.js'

/** How the store goes about its work, for tests. */
export interface MemoryTuning {
  /** Fewer events than these are looked through one by one. */
  readonly leastIndexed: number
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

// Events that are looked at between two turns of others, and how long the index is asked.
const SLICE = 10_000
const TURN_MS = 3

/** A page of the events that match. */
export async function listEvents(
  { timeline, index, tuning: { leastIndexed, probe }, pause }: Listed,
  query: EventQuery,
  trace: QueryTrace | undefined,
): Promise<EventPage> {
  const matches = tracedFilter(trace, compileFilter(query.where))
  const collector = pageCollector(query)
  const direction = scanDirection(query.sorts)
  const bounds = timeBounds(query.where)
  const filter = indexFilter(query.where)
  let turnEnd = performance.now() + TURN_MS

  const pauseInTime = async (): Promise<void> => {
    await pause()
    turnEnd = performance.now() + TURN_MS
  }

  /** Looks at the events of a stretch one by one; gives where it has come to, `undefined` once there are enough. */
  const scan = async (): Promise<TimeBounds | undefined> => {
    const { events, from, to } = timeline.between(bounds.from, bounds.to)
    const mayProbe = direction !== undefined && filter !== undefined && to - from >= leastIndexed
    const step = direction === 'asc' ? 1 : -1
    let [seen, matched] = [0, 0]
    let probed = mayProbe ? probe : Infinity
    trace?.enter(mayProbe ? 'probe' : 'scan')
    for (let i = step > 0 ? from : to - 1; i >= from && i < to; i += step) {
      if (seen >= probed) {
        probed += nextProbe(seen, matched)
        if (seen >= probed) {
          const { time } = events[i]!
          return step > 0 ? { from: time, to: bounds.to } : { from: bounds.from, to: time }
        }
      }
      const { event } = events[i]!
      seen += 1
      if (matches(event)) {
        matched += 1
        if (collector.add(event)) return undefined
      }
      if (seen % SLICE === 0) await pause()
    }
    return undefined
  }

  const inTime = async (order: 'asc' | 'desc', rest: TimeBounds): Promise<void> => {
    trace?.enter('index')
    for (const event of candidatesInTime(tracedView(index.view(), trace), filter, order, rest)) {
      if (event && matches(event) && collector.add(event)) return
      if (performance.now() >= turnEnd) await pauseInTime()
    }
  }

  const sorted = async (): Promise<void> => {
    trace?.enter('sort')
    const take = (event: AuditEvent): boolean => {
      if (!matches(event)) return false
      collector.add(event)
      return true
    }
    for (const _ of takeSorted(tracedView(index.view(), trace), filter, query, bounds, take))
      if (performance.now() >= turnEnd) await pauseInTime()
  }

  if (direction === undefined && isIndexedOrder(query.sorts) && timeline.size >= leastIndexed)
    await sorted()
  else {
    const rest = await scan()
    if (rest && direction) await inTime(direction, rest)
  }
  return collector.page()
}

import type { AuditEvent } from '../../../src/event/event.js'
import { tracedFilter } from '../../../src/store/trace.js'
import { isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../../src/store-kit/collect.js'
import { compileFilter } from '../../../src/filter/evaluate.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import type { EventPage } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { lazyPage } from '../../../src/store-kit/lazy-event.js'
import { type Answer, type Indexed, OUTDATED, timeOf } from './answer.js'
import { listTrace } from './list-trace.js'
import { rowsInTime } from './list-in-time.js'
import { type ListPlan, type ListRequest, planList } from './list-plan.js'
import { collectSorted } from './list-sorted.js'
import { readOpen } from '../schema/live-rows.js'
import type { Opened, Snapshot } from '../log/reader.js'
import { rowToEvent, rowToLazyEvent } from '../schema/rows.js'
import type { Run } from './ranges.js'
import { numbered } from './sql.js'

/**
 * A page of the events that match. The newest are looked at one by one, as what is asked for is mostly found
 * among them; where few of them match, the index leads to the others. What no index can tell, or is in
 * none yet, is looked at row by row. `outdated` where the index has gone on, and knows no longer of what the
 * snapshot has.
 *
 * Open live events are met where they stand: an event is either in the one table or in the other.
 */
export async function listEvents(
  snapshot: Snapshot,
  indexed: Indexed,
  request: ListRequest,
  plan: ListPlan = planList(request, indexed.names),
  opened: Opened = {},
): Promise<EventPage | 'outdated'> {
  const { names } = indexed
  const { query, lazy = false, trace, bounds, direction, filter, where } = plan
  const run: Run = (query) => {
    snapshot.checkTime()
    return snapshot.ask(numbered(query), ...query.params)
  }
  const answer: Answer = {
    indexed,
    snapshot,
    opened,
    run,
    query,
    filter,
    where,
    toEvent: lazy ? rowToLazyEvent : rowToEvent,
    told: listTrace(run, names.events, trace),
    trace,
  }
  const matches = tracedFilter(trace, compileFilter(query.where))
  if (isEmpty(bounds)) return pageCollector(query).page()
  try {
    const collector = direction
      ? await collectInTime(answer, direction, bounds, matches)
      : await collectSorted(answer, bounds, matches)
    // Of an order by attributes all that are open are met.
    if (!direction)
      for (const event of await readOpen(snapshot.ask, names, snapshot.open))
        if (matches(event)) collector.add(event)
    await answer.told.end()
    return lazyPage(collector.page())
  } catch (error) {
    if (error !== OUTDATED) throw error
    return 'outdated'
  }
}

async function collectInTime(
  answer: Answer,
  order: Order,
  bounds: TimeBounds,
  matches: (event: AuditEvent) => boolean,
): Promise<EventCollector> {
  const { snapshot, indexed, query, toEvent } = answer
  const collector = pageCollector(query)
  const take = (event: AuditEvent): boolean => matches(event) && collector.add(event)
  const ahead = order === 'asc' ? [...snapshot.open] : snapshot.open.toReversed()
  /** The open events before that time in the direction; their texts are read only now. */
  const openUntil = (time: Microseconds): Promise<AuditEvent[]> => {
    const after = ahead.findIndex((row) => (order === 'asc' ? row.time > time : row.time < time))
    const some = ahead.splice(0, after < 0 ? ahead.length : after)
    return readOpen(snapshot.ask, indexed.names, some)
  }

  for await (const rows of rowsInTime(answer, order, bounds)) {
    const last = rows.at(-1)
    const between = last ? await openUntil(timeOf(last)) : []
    const found = between.length > 0 ? inOrderOf(order, between, rows.map(toEvent)) : undefined
    if (found ? found.some(take) : rows.some((row) => take(toEvent(row)))) return collector
  }
  for (const event of await readOpen(snapshot.ask, indexed.names, ahead)) if (take(event)) break
  return collector
}

function inOrderOf(
  order: Order,
  ...lists: readonly (readonly AuditEvent[])[]
): readonly AuditEvent[] {
  const sign = order === 'asc' ? 1 : -1
  return lists.flat().toSorted((a, b) => (a.created_at < b.created_at ? -sign : sign))
}

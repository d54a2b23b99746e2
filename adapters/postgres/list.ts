import type { AuditEvent } from '../../src/event.js'
import { type QueryTrace, tracedFilter } from '../../src/explaining/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { isEmpty, timeBounds, type TimeBounds } from '../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { indexFilter } from '../../src/indexing/index-filter.js'
import type { Order } from '../../src/indexing/part.js'
import type { EventPage } from '../../src/store.js'
import type { Microseconds } from '../../src/timestamp.js'
import { unreadPage } from '../../src/unread-event.js'
import { type Answer, type Indexed, OUTDATED, timeOf } from './answer.js'
import { listTrace } from './list-trace.js'
import { rowsInTime } from './list-in-time.js'
import { collectSorted } from './list-sorted.js'
import { readOpen } from './live-rows.js'
import { narrowEvents } from './narrow-event.js'
import type { Snapshot } from './reader.js'
import { rowToEvent, rowToUnread } from './rows.js'
import { MAX_TIME, type Run } from './ranges.js'
import { numbered } from './sql.js'

/** What of all time a query asks for, in whole numbers. */
export function listBounds(query: Pick<EventQuery, 'where'>): TimeBounds {
  const { from, to } = timeBounds(query.where)
  return { from: Math.max(from, 0), to: Math.min(to, MAX_TIME) }
}

export interface ListRequest {
  readonly query: EventQuery
  readonly lazy?: boolean | undefined
  readonly trace?: QueryTrace | undefined
}

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
  { query, lazy = false, trace }: ListRequest,
): Promise<EventPage | 'outdated'> {
  const { names } = indexed
  const run: Run = (query) => {
    snapshot.checkTime()
    return snapshot.ask(numbered(query), ...query.params)
  }
  const answer: Answer = {
    indexed,
    snapshot,
    run,
    query,
    filter: indexFilter(query.where),
    where: narrowEvents(query.where, names.foreignIds),
    toEvent: lazy ? rowToUnread : rowToEvent,
    told: listTrace(run, names.events, trace),
    trace,
  }
  const matches = tracedFilter(trace, compileFilter(query.where))
  const bounds = listBounds(query)
  if (isEmpty(bounds)) return pageCollector(query).page()
  const direction = scanDirection(query.sorts)
  try {
    const collector = direction
      ? await collectInTime(answer, direction, bounds, matches)
      : await collectSorted(answer, bounds, matches)
    // Of an order by attributes all that are open are met.
    if (!direction)
      for (const event of await readOpen(snapshot.ask, names, snapshot.open))
        if (matches(event)) collector.add(event)
    await answer.told.end()
    return unreadPage(collector.page())
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

import type { AuditEvent } from '../../../src/event/event.js'
import { tracedFilter } from '../../../src/store/trace.js'
import { isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../../src/store-kit/collect.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { EventPage } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { lazyPage } from '../../../src/store-kit/lazy-page.js'
import { compileStoredFilter } from '../../../src/store-kit/stored-filter.js'
import { type Indexed, type ListQuery, sizeOf, SNAPSHOT_OUTDATED, timeOf } from './list-query.js'
import type { TextRow } from '../connection/client.js'
import type { Decision } from '../../../src/filter/steps.js'
import { listTrace } from './list-trace.js'
import { rowsInTime } from './list-in-time.js'
import { createTakeMatching } from './matching.js'
import type { ListPlan } from './list-plan.js'
import { collectSorted } from './list-sorted.js'
import { readOpen } from '../schema/live-rows.js'
import type { Opened, Snapshot } from '../log/snapshot.js'
import { checkRows, rowToCheckedEvent, rowToLazyEvent } from '../schema/rows.js'
import type { Run } from './ranges.js'
import { numbered } from './sql.js'

/**
 * A page of matching events. A list by time first reads the newest rows, as most pages are found among
 * them; if few of these match, the index finds the others. Rows are read one by one where the index
 * cannot test the filter, or does not cover the events yet. Returns `outdated` if the index has dropped
 * segments that the snapshot needs, `damaged` if a segment was set aside; both are worth another attempt.
 *
 * Open live events are merged in by time: an event is in one of the two tables.
 */
export async function listEvents(
  snapshot: Snapshot,
  indexed: Indexed,
  plan: ListPlan,
  opened: Opened = {},
): Promise<EventPage | 'outdated' | 'damaged'> {
  const { names } = indexed
  const { query, lazy = false, trace, bounds, near, direction, filter, where } = plan
  const run: Run = (query) => {
    snapshot.checkTime()
    return snapshot.ask(numbered(query), ...query.params)
  }
  const list: ListQuery = {
    indexed,
    snapshot,
    opened,
    run,
    query,
    near,
    filter,
    where,
    check: checkRows(indexed.damages),
    toEvent: lazy ? rowToLazyEvent : rowToCheckedEvent,
    takeMatching: createTakeMatching(
      tracedFilter(trace, compileStoredFilter(query.where)),
      snapshot.checkTime,
    ),
    found: { events: 0, size: 0 },
    steps: listTrace(run, names.events, trace),
    trace,
  }
  if (isEmpty(bounds)) return pageCollector(query).page()
  try {
    const collector = direction
      ? await collectInTime(list, direction, bounds)
      : await collectSorted(list, bounds)
    // Sorted by attributes, any open event may belong to the page.
    if (!direction)
      await list.takeMatching(
        await readOpen(snapshot.ask, names, snapshot.open),
        itself,
        collector.add,
      )
    await list.steps.end()
    return lazyPage(await collector.page(), lazy)
  } catch (error) {
    if (error === SNAPSHOT_OUTDATED) return 'outdated'
    if (!(error instanceof DamagedSegment) || !indexed.index) throw error
    indexed.index.setAside(error)
    return 'damaged'
  }
}

const itself = (event: AuditEvent): AuditEvent => event

async function collectInTime(
  list: ListQuery,
  order: Order,
  bounds: TimeBounds,
): Promise<EventCollector> {
  const { snapshot, indexed, query, toEvent, takeMatching, check, found } = list
  const collector = pageCollector(query)
  const ahead = order === 'asc' ? [...snapshot.open] : snapshot.open.toReversed()
  /** Takes the open events up to that time in the direction, and reads their texts. */
  const openUntil = (time: Microseconds): Promise<AuditEvent[]> => {
    const after = ahead.findIndex((row) => (order === 'asc' ? row.time > time : row.time < time))
    const some = ahead.splice(0, after < 0 ? ahead.length : after)
    return readOpen(snapshot.ask, indexed.names, some)
  }

  const take = (event: AuditEvent, row?: TextRow): Decision => {
    found.events += 1
    if (row) found.size += sizeOf([row])
    return collector.add(event)
  }
  const takeOpen = (event: AuditEvent): Decision => take(event)

  for await (const some of rowsInTime(list, order, bounds)) {
    const last = some.at(-1)
    const rows = check(some)
    const between = last ? await openUntil(timeOf(last)) : []
    const both = between.length > 0 ? inOrderOf(order, between, rows.map(toEvent)) : undefined
    const isFull = both
      ? await takeMatching(both, itself, takeOpen)
      : await takeMatching(rows, toEvent, take)
    if (isFull) return collector
  }
  await takeMatching(await readOpen(snapshot.ask, indexed.names, ahead), itself, collector.add)
  return collector
}

function inOrderOf(
  order: Order,
  ...lists: readonly (readonly AuditEvent[])[]
): readonly AuditEvent[] {
  const sign = order === 'asc' ? 1 : -1
  return lists.flat().toSorted((a, b) => (a.created_at < b.created_at ? -sign : sign))
}

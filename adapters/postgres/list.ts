import type { AuditEvent } from '../../src/event.js'
import { type QueryTrace, tracedFilter } from '../../src/explaining/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { type Sql, sql } from '../../src/filter/sql.js'
import type { EventPage } from '../../src/store.js'
import type { Microseconds } from '../../src/timestamp.js'
import { unreadPage } from '../../src/unread-event.js'
import type { TextRow } from './client.js'
import { type ListTrace, listTrace } from './list-trace.js'
import { readOpen } from './live-rows.js'
import type { Names } from './names.js'
import { type NarrowedEvents, narrowEvents } from './narrow-event.js'
import type { Snapshot } from './reader.js'
import { EVENT_COLUMNS, rowToEvent, rowToUnread } from './rows.js'
import {
  BY_INDEX,
  BY_TABLE,
  MAX_TIME,
  newest,
  type Order,
  PROBED,
  type Run,
  sample,
  type Sample,
  within,
  withinRest,
} from './sample.js'
import { allOf, numbered } from './sql.js'

const FETCHED = 1000

const timeOf = (row: TextRow): Microseconds => Number(row[0])

const select = (from: string, condition: Sql, behind = ''): Sql =>
  sql(`SELECT ${EVENT_COLUMNS} FROM ${from} WHERE ${condition.text} ${behind}`, ...condition.params)

/** What the newest rows, or the oldest, tell of the way to go, for people to read. */
function reasonOf({ rows, having }: Sample, order: Order, indexed: Sql | undefined): string {
  if (!indexed) return 'the index has no terms for the filter'
  const end = order === 'ASC' ? 'oldest' : 'newest'
  return `${having} of the ${rows} ${end} events have a term that the index is asked for`
}

/** The matches in the order of time, some at a time. */
async function* walk(
  run: Run,
  told: ListTrace,
  events: string,
  { filter, indexed }: NarrowedEvents,
  bounds: TimeBounds,
  order: Order,
  size: number,
): AsyncGenerator<readonly TextRow[]> {
  const beyond = (rest: TimeBounds, time: Microseconds): TimeBounds =>
    order === 'ASC' ? { from: time + 1, to: rest.to } : { from: rest.from, to: time - 1 }
  const lastOf = (rows: readonly TextRow[]): Microseconds => timeOf(rows.at(-1)!)

  const probed = newest(events, bounds, order, filter ? PROBED : size)
  const probe = filter ?? sql('TRUE')
  await told.enter('probe')
  const rows = await run(
    sql(
      `SELECT ${EVENT_COLUMNS} FROM ${probed.text} WHERE ${probe.text}
       ORDER BY created_at ${order} LIMIT ${size}`,
      ...probed.params,
      ...probe.params,
    ),
  )
  yield rows
  let last = rows.length === size ? lastOf(rows) : undefined
  let terms: Sql | undefined
  if (filter) {
    const probed = await sample(run, events, bounds, order, indexed)
    last ??= probed.last
    if (probed.isRare) terms = indexed
    told.add(probed.rows)
    if (last !== undefined)
      await told.enter(terms ? 'index' : 'scan', reasonOf(probed, order, indexed))
  }
  if (last === undefined) return
  let rest = beyond(bounds, last)
  if (terms) await run(BY_INDEX)
  for (;;) {
    const range = terms ? withinRest(bounds, rest) : within(rest)
    const condition = allOf(range, filter, terms)
    const hidden = terms ? '+ 0' : ''
    const found = await run(
      select(events, condition, `ORDER BY created_at ${hidden} ${order} LIMIT ${size}`),
    )
    yield found
    if (found.length < size) return
    rest = beyond(rest, lastOf(found))
  }
}

/** All matches, in whatever order, some at a time. */
async function* sweep(
  run: Run,
  told: ListTrace,
  events: string,
  { filter, indexed }: NarrowedEvents,
  bounds: TimeBounds,
): AsyncGenerator<readonly TextRow[]> {
  await told.enter('probe')
  const sampled = await sample(run, events, bounds, 'DESC', indexed)
  told.add(sampled.rows)
  const terms = sampled.isRare ? indexed : undefined
  await told.enter(terms ? 'index' : 'scan', reasonOf(sampled, 'DESC', indexed))
  await run(terms ? BY_INDEX : BY_TABLE)
  const { text, params } = select(events, allOf(withinRest(bounds, bounds), filter, terms))
  // All of it is going to be fetched: https://www.postgresql.org/docs/current/runtime-config-query.html
  await run(sql('SET LOCAL cursor_tuple_fraction = 1'))
  await run(sql(`DECLARE matching NO SCROLL CURSOR FOR ${text}`, ...params))
  for (;;) {
    const rows = await run(sql(`FETCH ${FETCHED} FROM matching`))
    yield rows
    if (rows.length < FETCHED) return
  }
}

/** What of all time a query asks for, in whole numbers. */
export function listBounds(query: Pick<EventQuery, 'where'>): TimeBounds {
  const { from, to } = timeBounds(query.where)
  return { from: Math.max(from, 0), to: Math.min(to, MAX_TIME) }
}

/**
 * A page of the events that match. The planner knows nothing of how values and times go together:
 * with `ORDER BY created_at LIMIT 10` it reads back through the whole table for what only old events
 * have, and with the index of terms it collects all of what every fifth event has. So the newest
 * rows are looked through first; then it is told which way to go, the index by an order that it
 * cannot read off the key (`created_at + 0`).
 *
 * Open live events are met where they stand: an event is either in the one table or in the other.
 */
export async function listEvents(
  { ask, open, checkTime }: Snapshot,
  names: Names,
  query: EventQuery,
  trace?: QueryTrace,
  lazy = false,
): Promise<EventPage> {
  const { events, foreignIds } = names
  const matches = tracedFilter(trace, compileFilter(query.where))
  const toEvent = lazy ? rowToUnread : rowToEvent
  const collector = pageCollector(query)
  const order: Order = collector.direction === 'asc' ? 'ASC' : 'DESC'
  const narrowed = narrowEvents(query.where, foreignIds)
  const bounds = listBounds(query)
  const run: Run = (query) => {
    checkTime()
    return ask(numbered(query), ...query.params)
  }
  const take = (event: AuditEvent): boolean => matches(event) && collector.add(event)
  if (bounds.from > bounds.to) return collector.page()

  const ahead = order === 'ASC' ? [...open] : open.toReversed()
  /** The open events before that time in the scan's direction; their texts are read only now. */
  const openUntil = (time: Microseconds): Promise<AuditEvent[]> => {
    const after = ahead.findIndex((row) => (order === 'ASC' ? row.time > time : row.time < time))
    return readOpen(ask, names, ahead.splice(0, after < 0 ? ahead.length : after))
  }
  const isInOrder = scanDirection(query.sorts) !== undefined
  const told = listTrace(run, events, trace)
  const meet = async (): Promise<void> => {
    const scan = isInOrder
      ? walk(run, told, events, narrowed, bounds, order, query.limit + 1)
      : sweep(run, told, events, narrowed, bounds)
    for await (const rows of scan) {
      const last = rows.at(-1)
      const between = isInOrder && last ? await openUntil(timeOf(last)) : []
      const found = between.length > 0 ? inOrderOf(order, between, rows.map(toEvent)) : undefined
      if (found ? found.some(take) : rows.some((row) => take(toEvent(row)))) return
    }
    for (const event of await readOpen(ask, names, ahead)) if (take(event)) break
  }
  await meet()
  await told.end()
  return unreadPage(collector.page())
}

function inOrderOf(
  order: Order,
  ...lists: readonly (readonly AuditEvent[])[]
): readonly AuditEvent[] {
  const sign = order === 'ASC' ? 1 : -1
  return lists.flat().toSorted((a, b) => (a.created_at < b.created_at ? -sign : sign))
}

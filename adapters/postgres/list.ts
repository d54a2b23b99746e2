import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../src/filter/collect.js'
import { compileFilter } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { andSql, type Sql, sql } from '../../src/filter/sql.js'
import type { EventPage } from '../../src/store.js'
import type { Microseconds } from '../../src/timestamp.js'
import type { TextRow } from './client.js'
import type { Snapshot } from './reader.js'
import { type NarrowedEvents, narrowEvents } from './narrow-event.js'
import { EVENT_COLUMNS, rowToEvent } from './rows.js'
import type { Names } from './schema.js'
import { numbered } from './sql.js'

// What is found often is found among so many of the newest, at the cost of a few milliseconds.
const PROBED = 1000
// Of what more events have, the index would have to collect too many before the newest are known.
const MAX_SHARE = 0.03
const FETCHED = 1000

type Run = (query: Sql) => Promise<TextRow[]>
type Order = 'ASC' | 'DESC'

const MAX_TIME = Number.MAX_SAFE_INTEGER

const within = ({ from, to }: TimeBounds): Sql => sql('created_at BETWEEN ? AND ?', from, to)

const isAllTime = ({ from, to }: TimeBounds): boolean => from === 0 && to === MAX_TIME

/** What is left of the bounds; where that is most of all time the planner is not to collect it by the key. */
const withinRest = (bounds: TimeBounds, { from, to }: TimeBounds): Sql =>
  sql(`created_at ${isAllTime(bounds) ? '+ 0' : ''} BETWEEN ? AND ?`, from, to)

const select = (from: string, condition: Sql, behind = ''): Sql =>
  sql(`SELECT ${EVENT_COLUMNS} FROM ${from} WHERE ${condition.text} ${behind}`, ...condition.params)

/** The first rows in an order, whatever is asked of them: the planner cannot look behind LIMIT. */
function newest(events: string, bounds: TimeBounds, order: Order, count: number): Sql {
  const { text, params } = within(bounds)
  const rows = `SELECT * FROM ${events} WHERE ${text} ORDER BY created_at ${order} LIMIT ${count}`
  return sql(`(${rows}) AS newest`, ...params)
}

const bothOf = (...parts: readonly (Sql | undefined)[]): Sql =>
  andSql(parts.filter((part) => part !== undefined))

/** What the newest rows, or the oldest, tell of all. */
interface Sample {
  /** The last of them in the direction; `undefined` where they are all that there are. */
  readonly last: Microseconds | undefined
  /** True where few of them have the terms. */
  readonly isRare: boolean
}

async function sample(
  run: Run,
  events: string,
  bounds: TimeBounds,
  order: Order,
  terms: Sql | undefined,
): Promise<Sample> {
  const { text, params } = newest(events, bounds, order, PROBED)
  const counted = terms ?? sql('TRUE')
  const [row] = await run(
    sql(
      `SELECT ${order === 'ASC' ? 'max' : 'min'}(created_at), count(*), count(*) FILTER (WHERE ${counted.text})
       FROM ${text}`,
      ...counted.params,
      ...params,
    ),
  )
  const [last, all, having] = row!.map(Number)
  return { last: all === PROBED ? last : undefined, isRare: having! <= MAX_SHARE * PROBED }
}

/** Goes through the matches in the order of time until the page is full. */
async function walk(
  run: Run,
  events: string,
  { filter, indexed }: NarrowedEvents,
  bounds: TimeBounds,
  order: Order,
  size: number,
  take: (rows: readonly TextRow[]) => boolean,
): Promise<void> {
  const beyond = (rest: TimeBounds, time: Microseconds): TimeBounds =>
    order === 'ASC' ? { from: time + 1, to: rest.to } : { from: rest.from, to: time - 1 }
  const timeOf = (rows: readonly TextRow[]): Microseconds => Number(rows.at(-1)![0])

  const probed = newest(events, bounds, order, filter ? PROBED : size)
  const probe = filter ?? sql('TRUE')
  const rows = await run(
    sql(
      `SELECT ${EVENT_COLUMNS} FROM ${probed.text} WHERE ${probe.text}
       ORDER BY created_at ${order} LIMIT ${size}`,
      ...probed.params,
      ...probe.params,
    ),
  )
  if (take(rows)) return
  let last = rows.length === size ? timeOf(rows) : undefined
  let terms: Sql | undefined
  if (filter) {
    const probed = await sample(run, events, bounds, order, indexed)
    last ??= probed.last
    if (probed.isRare) terms = indexed
  }
  if (last === undefined) return
  let rest = beyond(bounds, last)
  if (terms) await run(BY_INDEX)
  for (;;) {
    const range = terms ? withinRest(bounds, rest) : within(rest)
    const condition = bothOf(range, filter, terms)
    const hidden = terms ? '+ 0' : ''
    const found = await run(
      select(events, condition, `ORDER BY created_at ${hidden} ${order} LIMIT ${size}`),
    )
    if (take(found) || found.length < size) return
    rest = beyond(rest, timeOf(found))
  }
}

// Of values it has no statistics on, the planner thinks that many events have them: it is told.
const BY_INDEX = sql('SET LOCAL enable_bitmapscan = on')
const BY_TABLE = sql('SET LOCAL enable_seqscan = on')

/** Goes through all matches, in whatever order. */
async function sweep(
  run: Run,
  events: string,
  { filter, indexed }: NarrowedEvents,
  bounds: TimeBounds,
  take: (rows: readonly TextRow[]) => boolean,
): Promise<void> {
  const { isRare } = await sample(run, events, bounds, 'DESC', indexed)
  const terms = isRare ? indexed : undefined
  await run(terms ? BY_INDEX : BY_TABLE)
  const { text, params } = select(events, bothOf(withinRest(bounds, bounds), filter, terms))
  // All of it is going to be fetched: https://www.postgresql.org/docs/current/runtime-config-query.html
  await run(sql('SET LOCAL cursor_tuple_fraction = 1'))
  await run(sql(`DECLARE matching NO SCROLL CURSOR FOR ${text}`, ...params))
  for (;;) {
    const rows = await run(sql(`FETCH ${FETCHED} FROM matching`))
    if (take(rows) || rows.length < FETCHED) return
  }
}

/**
 * A page of the events that match. The planner knows nothing of how values and times go together:
 * with `ORDER BY created_at LIMIT 10` it reads back through the whole table for what only old events
 * have, and with the index of terms it collects all of what every fifth event has. So the newest
 * rows are looked through first; then it is told which way to go, the index by an order that it
 * cannot read off the key (`created_at + 0`).
 */
export async function listEvents(
  { ask, checkTime }: Snapshot,
  { events, foreignIds }: Names,
  query: EventQuery,
): Promise<EventPage> {
  const matches = compileFilter(query.where)
  const collector: EventCollector = pageCollector(query)
  const order: Order = collector.direction === 'asc' ? 'ASC' : 'DESC'
  const narrowed = narrowEvents(query.where, foreignIds)
  const { from, to } = timeBounds(query.where)
  const bounds = { from: Math.max(from, 0), to: Math.min(to, MAX_TIME) }
  const run: Run = (query) => {
    checkTime()
    return ask(numbered(query), ...query.params)
  }
  const take = (rows: readonly TextRow[]): boolean =>
    rows.some((row) => {
      const event = rowToEvent(row)
      return matches(event) && collector.add(event)
    })
  if (bounds.from > bounds.to) return collector.page()
  await (scanDirection(query.sorts) === undefined
    ? sweep(run, events, narrowed, bounds, take)
    : walk(run, events, narrowed, bounds, order, query.limit + 1, take))
  return collector.page()
}

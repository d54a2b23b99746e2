import { AuditLogError } from '../../../src/errors.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { beyond, isEmpty, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Damage } from '../../../src/store/damage.js'
import { damagedEvent, damagedRange } from '../../../src/store-kit/damages.js'
import type { TextRow } from '../connection/client.js'
import type { Ask } from '../connection/connection.js'
import { asAuditLogError, isCorrupt, isDataError } from '../connection/failures.js'
import type { Names } from './names.js'
import { faultOf, STORED_COLUMNS } from './rows.js'

/** The failure of a statement that has read the events of these times, among which is one that cannot be read. */
export class UnreadableAmong extends AuditLogError {
  readonly times: readonly Microseconds[]

  constructor(times: readonly Microseconds[], cause: unknown) {
    super('STORE_FAILED', asAuditLogError(cause).message, { cause })
    this.times = times
  }
}

/** Runs a statement that reads the events of these times. */
export async function readingAt<Result>(
  times: readonly Microseconds[],
  statement: Promise<Result>,
): Promise<Result> {
  try {
    return await statement
  } catch (error) {
    throw isCorrupt(error) ? new UnreadableAmong(times, error) : error
  }
}

/** Where to look for events that cannot be read. */
export interface Search {
  /** In this order; the search ends with the first rows that have some. */
  readonly order: Order
  readonly bounds: TimeBounds
  /** Only among these times, if they are known. */
  readonly times: readonly Microseconds[] | undefined
  /** Throws once the search has taken too long; the next one continues where it was. */
  readonly checkTime: () => void
  /** Receives what is to be reported. */
  readonly found: Damage[]
  /** Where searches that took too long have ended, by order. */
  readonly reached: Map<Order, Microseconds>
}

type Order = 'asc' | 'desc'

/** A statement with these columns fails if the terms are not an array of their type, as counts do. */
const COLUMNS = `${STORED_COLUMNS}`

const MAX_BATCH = 1024
/** Factor by which batches shrink before an event that cannot be read, and grow after it. */
const GROWTH = 4

const SQL_ORDER: Readonly<Record<Order, string>> = { asc: 'ASC', desc: 'DESC' }

/** Sends statements of which each may fail without ending the transaction. */
type Attempt = (text: string, ...values: unknown[]) => Promise<TextRow[] | Error>

export const createAttempt =
  (ask: Ask): Attempt =>
  async (text, ...values) => {
    await ask('SAVEPOINT attempt')
    try {
      const rows = await ask(text, ...values)
      await ask('RELEASE attempt')
      return rows
    } catch (error) {
      if (!isCorrupt(error) && !isDataError(error)) throw error
      await ask('ROLLBACK TO attempt')
      return error as Error
    }
  }

/**
 * Finds events that the server cannot read, or whose rows are damaged, and makes all statements of this
 * process leave them out. To be called in a transaction. Returns false if it finds none.
 */
export async function findUnreadable(ask: Ask, names: Names, search: Search): Promise<boolean> {
  const { found } = search
  const before = found.length
  const context = { attempt: createAttempt(ask), names, found }
  const { times } = search
  if (!times) await searchRange(context, search)
  else
    for (let from = 0; from < times.length; from += MAX_BATCH) {
      search.checkTime()
      await searchTimes(context, times.slice(from, from + MAX_BATCH))
    }
  return found.length > before
}

interface Context {
  readonly attempt: Attempt
  readonly names: Names
  readonly found: Damage[]
}

async function searchTimes(context: Context, times: readonly Microseconds[]): Promise<void> {
  const { attempt, names } = context
  const rows = await attempt(
    `SELECT ${COLUMNS} FROM ${names.readable.sql()} WHERE created_at = ANY ($1::int8[])`,
    times,
  )
  const middle = times.length >> 1
  if (!(rows instanceof Error)) leaveOutFaulty(context, rows)
  else if (middle === 0) await leaveOut(context, { from: times[0]!, to: times[0]! }, rows)
  else {
    await searchTimes(context, times.slice(0, middle))
    await searchTimes(context, times.slice(middle))
  }
}

async function searchRange(
  context: Context,
  { bounds, order, checkTime, reached }: Search,
): Promise<void> {
  const { attempt, names, found } = context
  let rest = await upToNewest(attempt, names, bounds)
  const start = reached.get(order)
  if (start !== undefined && rest.from <= start && start <= rest.to)
    rest = beyond(rest, start, order)
  /** The events that cannot be read just before `rest`. */
  let last: TimeBounds | undefined
  const goBeyond = (time: Microseconds): void => {
    rest = beyond(rest, time, order)
    reached.set(order, time)
  }
  for (let size = MAX_BATCH; !isEmpty(rest);) {
    checkTime()
    const rows = await attempt(selectFirst(names, order, size), rest.from, rest.to)
    if (!(rows instanceof Error)) {
      last = undefined
      leaveOutFaulty(context, rows)
      if (rows.length < size || (found.length > 0 && size === MAX_BATCH)) break
      goBeyond(Number(rows.at(-1)![0]))
      size = Math.min(MAX_BATCH, GROWTH * size)
    } else if (size > 1) size /= GROWTH
    else {
      const range = await firstUnreadable(attempt, names, rest, order)
      await leaveOut(context, range, rows)
      // One range for neighbours, such as those of a page.
      if (last) names.readable.leaveOut(spanOf(last, range))
      last = range
      goBeyond(order === 'asc' ? range.to : range.from)
    }
  }
  reached.delete(order)
}

const spanOf = (a: TimeBounds, b: TimeBounds): TimeBounds => ({
  from: Math.min(a.from, b.from),
  to: Math.max(a.to, b.to),
})

const selectFirst = ({ readable }: Names, order: Order, size: number): string =>
  `SELECT ${COLUMNS} FROM ${readable.sql()} WHERE created_at BETWEEN $1 AND $2
   ORDER BY created_at ${SQL_ORDER[order]} LIMIT ${size}`

/** Ends the bounds at the newest event, so that events that are stored later are not left out unseen. */
async function upToNewest(
  attempt: Attempt,
  { highWater }: Names,
  { from, to }: TimeBounds,
): Promise<TimeBounds> {
  const rows = await attempt(`SELECT last_value FROM ${highWater}`)
  if (rows instanceof Error) throw rows
  return { from, to: Math.min(to, Number(rows[0]![0])) }
}

/** Leaves out the rows that are damaged. */
function leaveOutFaulty({ names: { readable }, found }: Context, rows: readonly TextRow[]): void {
  for (const row of rows) {
    const fault = faultOf(row)
    const time = Number(row[0])
    if (fault !== undefined && readable.leaveOut({ from: time, to: time }))
      found.push(damagedEvent(time, row[1], fault))
  }
}

/** Leaves out events that the server cannot read; throws its error if there are too many. */
async function leaveOut(
  { attempt, names: { events, readable }, found }: Context,
  range: TimeBounds,
  error: Error,
): Promise<void> {
  const { from, to } = range
  if (!readable.leaveOut(range)) throw error
  if (from < to) {
    found.push(damagedRange(from, to, error.message))
    return
  }
  const rows = await attempt(`SELECT suffix FROM ${events} WHERE created_at = $1`, from)
  const suffix = rows instanceof Error ? undefined : rows[0]?.[0]
  found.push(damagedEvent(from, suffix, error.message))
}

/** The times from the first event in the order, which cannot be read, up to the next one that can. */
async function firstUnreadable(
  attempt: Attempt,
  { readable }: Names,
  bounds: TimeBounds,
  order: Search['order'],
): Promise<TimeBounds> {
  const { from, to } = bounds
  const isRising = order === 'asc'
  const times = await attempt(
    `SELECT created_at FROM ${readable.sql()} WHERE created_at BETWEEN $1 AND $2
     ORDER BY created_at ${SQL_ORDER[order]} LIMIT 1`,
    from,
    to,
  )
  if (!(times instanceof Error)) {
    const time = Number(times[0]![0])
    return { from: time, to: time }
  }
  /** Whether the first event that is this far from the beginning, if any, can be read. */
  const canRead = async (distance: number): Promise<boolean> => {
    const [least, most] = isRising ? [from + distance, to] : [from, to - distance]
    if (least > most) return true
    const select = `SELECT created_at, checksum FROM ${readable.sql()}
      WHERE created_at BETWEEN $1 AND $2 ORDER BY created_at ${SQL_ORDER[order]} LIMIT 1`
    return !((await attempt(select, least, most)) instanceof Error)
  }
  let [unreadable, next] = [0, 1]
  while (!(await canRead(next))) [unreadable, next] = [next, 2 * next]
  while (next - unreadable > 1) {
    const middle = unreadable + Math.floor((next - unreadable) / 2)
    if (await canRead(middle)) next = middle
    else unreadable = middle
  }
  return isRising ? { from, to: from + unreadable } : { from: to - unreadable, to }
}

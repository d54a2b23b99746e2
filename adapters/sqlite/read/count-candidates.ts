import { AuditLogError } from '../../../src/errors.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { formatTimestamp, parseTimestamp } from '../../../src/event/timestamp.js'
import { bothOf, type EventQuery, MAX_LIMIT, oneCondition } from '../../../src/filter/ast.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import { wholeCells } from '../../../src/store-kit/counting/covered-cells.js'
import { type Slice, sliceAt } from '../../../src/store-kit/counting/slices.js'
import type { Tally } from '../../../src/store-kit/counting/tally.js'
import { halfwayTo } from '../../../src/store-kit/index/counted-figures.js'
import { indexFilter } from '../../../src/store-kit/index/index-filter.js'
import type { WaitOptions } from '../../../src/store/store.js'
import type { Countable } from './count-by-index.js'
import { listEvents } from './list.js'
import { readLogState } from './scan.js'

/** With more matching events, scanning a sample of all events says as much. */
const MAX_LISTED = 10_000
const OLDEST_FIRST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]

/**
 * Counts the events that a list finds, if the index leads it and if they are few. False if not, or if half of the time
 * is over; nothing is counted then.
 */
export async function countCandidates(
  log: Countable,
  tally: Tally,
  end: number,
  options: WaitOptions,
): Promise<boolean> {
  const { connection } = log.tables
  const cells = wholeCells(tally)
  if (cells.length === 0 || performance.now() >= end || !indexFilter(tally.shared)) return false
  const { sealed } = await connection.retry(() => readLogState(connection), options)
  if (sealed < log.minIndexed) return false
  const found = await listAll(log, tally, cells, {
    ...options,
    deadline: halfwayTo(end),
  })
  if (!found) return false
  const slices = createTimeSlices()
  for (const event of found) {
    const cell = sliceAt(cells, parseTimestamp(event.created_at)!)?.cell
    const decision = cell !== undefined && tally.add(cell, event)
    if (typeof decision !== 'boolean') await slices.finish(decision)
    if (slices.isOver()) await slices.next()
  }
  for (const cell of cells) tally.seen(cell)
  return true
}

/** All events that pass the filter for every figure; `undefined` if they are many, or after the deadline. */
async function listAll(
  log: Countable,
  { shared }: Pick<Tally, 'shared'>,
  cells: readonly Slice[],
  options: WaitOptions & { readonly deadline: number },
): Promise<readonly AuditEvent[] | undefined> {
  const end = oneCondition('created_at', 'lteq', [formatTimestamp(cells.at(-1)!.to)])
  const found: AuditEvent[] = []
  let where = bothOf(shared, end)
  try {
    for (;;) {
      const query = { where, sorts: OLDEST_FIRST, limit: MAX_LIMIT }
      const { events, truncated } = await listEvents(log, query, { ...options, lazy: true })
      found.push(...events)
      if (!truncated) return found
      if (found.length >= MAX_LISTED) return undefined
      const after = oneCondition('created_at', 'gt', [events.at(-1)!.created_at])
      where = bothOf(bothOf(shared, end), after)
    }
  } catch (error) {
    const isLate = error instanceof AuditLogError && error.code === 'ABORTED'
    if (isLate && !options.signal?.aborted) return undefined
    throw error
  }
}

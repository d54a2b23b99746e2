import { beyond, isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import { createProbe } from '../../../src/store-kit/index/probe.js'
import {
  type ListQuery,
  coverageIn,
  BATCH_ROWS,
  rowsOfFound,
  openIndexSession,
  timeOf,
} from './list-query.js'
import type { TextRow } from '../connection/client.js'
import type { LogIndex } from '../index/log-index.js'
import type { Coverage } from '../index/server-index.js'
import { READ_LIMIT_EXCEEDED } from '../index/chunk-loader.js'
import { timesInOrder } from '../index/session.js'
import { firstProbeOf } from './list-plan.js'
import { inParts } from './near-bounds.js'
import { probeStatement, readProbe, scanRows } from './list-scan.js'
import { sizeOf } from './list-query.js'

const NOT_INDEXED = 'the index cannot answer the filter'

type Rows = AsyncGenerator<readonly TextRow[], void>

/**
 * The rows that may match, in the order of `created_at`, in batches. Rows are read one by one while
 * enough of them match; then the index finds the others.
 */
export async function* rowsInTime(list: ListQuery, order: Order, bounds: TimeBounds): Rows {
  const { filter, steps, indexed, query, opened, run, found } = list
  const { index } = indexed
  const isIndexUnused = !filter || !index
  const parts = inParts(bounds, list.near, order)
  // Neither the index nor SQL can test the filter: all rows are read.
  if (isIndexUnused && !list.where) {
    await (query.where ? steps.enter('scan', NOT_INDEXED) : steps.enter('probe'))
    yield* scanRows(list, order, parts, opened['scan'])
    return
  }
  await steps.enter('probe')
  let [part, ...others] = parts as readonly [TimeBounds, ...TimeBounds[]]
  let ready: readonly TextRow[] | undefined = opened['probe']
  const least = query.limit + 1
  let seen = 0
  const probe = createProbe(firstProbeOf(filter, indexed))
  while (probe.left() > 0) {
    const size = probe.left()
    const before = { ...found }
    const request = { order, bounds: part, count: size, most: least }
    const { rows, last } = readProbe(ready ?? (await run(probeStatement(list, request))))
    ready = undefined
    yield rows
    // Rows that SQL could not rule out were checked meanwhile.
    probe.matched(found.events - before.events)
    probe.missed(sizeOf(rows) - (found.size - before.size))
    const isFull = rows.length === least
    if (last === undefined && !isFull) {
      // The part has fewer rows.
      if (others.length === 0) return
      ;[part, ...others] = others as [TimeBounds]
      continue
    }
    const passed = isFull ? rows.length : size
    seen += passed
    probe.passed(passed)
    if (!isFull) steps.add(size)
    part = beyond(part, last ?? timeOf(rows.at(-1)!), order)
    if (isEmpty(part)) {
      if (others.length === 0) return
      ;[part, ...others] = others as [TimeBounds]
    }
    if (isIndexUnused) break
  }
  const rest =
    order === 'desc' ? { from: bounds.from, to: part.to } : { from: part.from, to: bounds.to }
  if (isIndexUnused) {
    await steps.enter('scan', NOT_INDEXED)
    yield* scanRows(list, order, others.length > 0 ? [part, ...others] : [part])
    return
  }
  const end = order === 'asc' ? 'oldest' : 'newest'
  const reason = `${found.events} of the ${seen} ${end} events match`
  yield* remainingRows(list, index, { order, bounds: rest, reason })
}

interface IndexWalk {
  readonly order: Order
  readonly bounds: TimeBounds
  /** Why the index is used, for the trace. */
  readonly reason: string
}

/** The remaining rows: by the index as far as it covers the events, else by a scan. */
async function* remainingRows(
  list: ListQuery,
  index: LogIndex,
  { order, bounds, reason }: IndexWalk,
): Rows {
  const { steps } = list
  await steps.enter('index', reason)
  const coverage = await coverageIn(list, index)
  const { covered: known, rest: others } = splitAt(bounds, coverage.to)
  const ask = (): Rows => rowsByIndex(list, coverage, { order, bounds: known, reason })
  const scan = (): Rows => scanUncovered(list, order, others, 'too many events are not indexed yet')
  for (const rows of order === 'asc' ? [ask, scan] : [scan, ask]) yield* rows()
}

async function* scanUncovered(
  list: ListQuery,
  order: Order,
  bounds: TimeBounds,
  reason: string,
): Rows {
  if (isEmpty(bounds)) return
  await list.steps.enter('scan', reason)
  yield* scanRows(list, order, [bounds])
}

// Factor by which batches grow while too few of the index's candidates match.
const GROWTH = 4

async function* rowsByIndex(
  list: ListQuery,
  coverage: Coverage,
  { order, bounds, reason }: IndexWalk,
): Rows {
  if (isEmpty(bounds)) return
  const { steps, query } = list
  await steps.enter('index', reason)
  const session = await openIndexSession(list, coverage, bounds)
  let rest = bounds
  let most = query.limit + 1
  try {
    for await (const times of timesInOrder(session, list.filter, {
      order,
      bounds,
      max: () => most,
    })) {
      const rows = await rowsOfFound(list, coverage, times)
      const sign = order === 'asc' ? 1 : -1
      yield rows.toSorted((a, b) => (timeOf(a) - timeOf(b)) * sign)
      rest = beyond(rest, times.at(-1)!, order)
      most = Math.min(most * GROWTH, Math.max(most, BATCH_ROWS))
    }
  } catch (error) {
    if (error !== READ_LIMIT_EXCEEDED) throw error
    yield* scanUncovered(list, order, rest, 'the query would read too much of the index')
  }
}

import { beyond, isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import { nextProbe } from '../../../src/store-kit/index/probe.js'
import { type Answer, coverageIn, FETCHED, rowsAt, sessionOf, timeOf } from './answer.js'
import type { TextRow } from '../connection/client.js'
import type { Coverage, LogIndex } from '../index/log-index.js'
import { TOO_MUCH } from '../index/chunk-loader.js'
import { timesInOrder } from '../index/session.js'
import { firstProbeOf } from './list-plan.js'
import { probeStatement, readProbe, scanRows } from './list-scan.js'

const UNTOLD = 'the index tells nothing of the filter'

type Rows = AsyncGenerator<readonly TextRow[], void>

/**
 * The rows along `created_at` that may match, some at a time. The first are looked at one by one as long as
 * enough of them match; then the index leads to the others.
 */
export async function* rowsInTime(answer: Answer, order: Order, bounds: TimeBounds): Rows {
  const { filter, told, indexed, query, opened, run } = answer
  const { index } = indexed
  // Where nobody can tell anything of the filter all rows are looked at.
  const isAlone = !filter || !index
  if (isAlone && !answer.where) {
    await (query.where ? told.enter('scan', UNTOLD) : told.enter('probe'))
    yield* scanRows(answer, order, bounds, opened['scan'])
    return
  }
  const firstProbe = firstProbeOf(filter, indexed)
  if (firstProbe > 0) await told.enter('probe')
  let rest = bounds
  let [seen, matched] = [0, 0]
  const least = query.limit + 1
  if (filter) index?.probeHistory.note(filter, 'rows')
  for (let size = firstProbe; size > 0; size = nextProbe(seen, matched)) {
    const probed = seen === 0 ? opened['probe'] : undefined
    const found = probed ?? (await run(probeStatement(answer, order, rest, size, least)))
    const { rows, last } = readProbe(found)
    yield rows
    const isFull = rows.length === least
    if (last === undefined && !isFull) return
    seen += isFull ? rows.length : size
    matched += rows.length
    if (!isFull) told.add(size)
    rest = beyond(rest, last ?? timeOf(rows.at(-1)!), order)
    if (isEmpty(rest)) return
    if (isAlone) break
  }
  if (isAlone) {
    await told.enter('scan', UNTOLD)
    yield* scanRows(answer, order, rest)
    return
  }
  index.probeHistory.note(filter, matched === 0 ? 'index' : 'both')
  const end = order === 'asc' ? 'oldest' : 'newest'
  const reason =
    seen > 0
      ? `${matched} of the ${seen} ${end} events may match`
      : `the last filter on the same attributes let none of the ${end} events through`
  yield* rowsBehind(answer, index, order, rest, reason)
}

/** By the index, as far as it knows the events. */
async function* rowsBehind(
  answer: Answer,
  index: LogIndex,
  order: Order,
  bounds: TimeBounds,
  reason: string,
): Rows {
  const { told } = answer
  await told.enter('index', reason)
  const coverage = await coverageIn(answer, index)
  const { covered: known, rest: others } = splitAt(bounds, coverage.to)
  const ask = (): Rows => rowsByIndex(answer, index, coverage, order, known, reason)
  const scan = (): Rows => scanOthers(answer, order, others, 'too many events are in no index yet')
  for (const rows of order === 'asc' ? [ask, scan] : [scan, ask]) yield* rows()
}

async function* scanOthers(answer: Answer, order: Order, bounds: TimeBounds, reason: string): Rows {
  if (isEmpty(bounds)) return
  await answer.told.enter('scan', reason)
  yield* scanRows(answer, order, bounds)
}

// Of what the index leads to ever more is looked at where not enough of it matches.
const GROWTH = 4

async function* rowsByIndex(
  answer: Answer,
  index: LogIndex,
  coverage: Coverage,
  order: Order,
  bounds: TimeBounds,
  reason: string,
): Rows {
  if (isEmpty(bounds)) return
  const { told, query } = answer
  await told.enter('index', reason)
  const session = await sessionOf(answer, index, coverage, bounds)
  let rest = bounds
  let most = query.limit + 1
  try {
    for await (const times of timesInOrder(session, answer.filter, order, bounds, () => most)) {
      if (times.length > query.limit && answer.filter)
        index.probeHistory.note(answer.filter, 'both')
      const rows = await rowsAt(answer, times)
      const sign = order === 'asc' ? 1 : -1
      yield rows.toSorted((a, b) => (timeOf(a) - timeOf(b)) * sign)
      rest = beyond(rest, times.at(-1)!, order)
      most = Math.min(most * GROWTH, Math.max(most, FETCHED))
    }
  } catch (error) {
    if (error !== TOO_MUCH) throw error
    yield* scanOthers(answer, order, rest, 'too much of the index would be read')
  }
}

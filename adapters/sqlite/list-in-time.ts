import type { AuditEvent } from '../../src/event.js'
import type { TimeBounds } from '../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../src/filter/collect.js'
import { candidatesInTime, type IndexView } from '../../src/indexing/index-list.js'
import type { Order } from '../../src/indexing/part.js'
import { nextProbe } from '../../src/indexing/probe.js'
import type { EventPage } from '../../src/store.js'
import { type Microseconds, parseTimestamp } from '../../src/timestamp.js'
import { type Answer, isEmpty, scanRows, splitAt } from './answer.js'
import { coveredTo, runIndex } from './index-run.js'

/** Along `created_at`, from the end at which the order begins. */
export async function listInTime(
  answer: Answer,
  order: Order,
  bounds: TimeBounds,
): Promise<EventPage> {
  const collector = pageCollector(answer.query)
  if (!answer.filter) {
    await scanRows(answer, collector, bounds, 'scan')
    return collector.page()
  }
  const rest = await probe(answer, collector, order, bounds)
  if (!rest || isEmpty(rest)) return collector.page()

  answer.options.trace?.enter('index')
  const { known, others } = splitAt(rest, await coveredTo(answer.indexed, answer.options))
  const askIndex = (): Promise<boolean> => walk(answer, collector, order, known)
  const scanOthers = (): Promise<boolean> => scanRows(answer, collector, others, 'scan')
  const [first, second] = order === 'asc' ? [askIndex, scanOthers] : [scanOthers, askIndex]
  if (!(await first())) await second()
  return collector.page()
}

const nthTime = (order: Order): string =>
  `SELECT created_at FROM daybook_events WHERE created_at BETWEEN ? AND ?
   ORDER BY created_at ${order} LIMIT 1 OFFSET ?`

/**
 * Looks at the first rows, as long as enough of them match; gives what is left then, `undefined` once
 * nothing more is needed.
 */
async function probe(
  answer: Answer,
  collector: EventCollector,
  order: Order,
  bounds: TimeBounds,
): Promise<TimeBounds | undefined> {
  const { connection } = answer.indexed.tables
  const isRising = order === 'asc'
  let rest = bounds
  let [seen, matched] = [0, 0]
  const onMatch = (): void => void (matched += 1)
  for (let size = answer.indexed.firstProbe; size > 0; size = nextProbe(seen, matched)) {
    const row = await connection.retry(
      () => connection.statement(nthTime(order)).get(rest.from, rest.to, size - 1),
      answer.options,
    )
    const end = (row as { readonly created_at: Microseconds } | undefined)?.created_at
    const first = isRising
      ? { from: rest.from, to: end ?? rest.to }
      : { from: end ?? rest.from, to: rest.to }
    const isFull = await scanRows(answer, collector, first, 'probe', onMatch)
    if (isFull || end === undefined) return undefined
    seen += size
    rest = isRising ? { from: end + 1, to: rest.to } : { from: rest.from, to: end - 1 }
  }
  return rest
}

/** True once there are enough. */
async function walk(
  answer: Answer,
  collector: EventCollector,
  order: Order,
  bounds: TimeBounds,
): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const { indexed, filter, matches, toEvent, options } = answer
  options.trace?.enter('index')
  let rest = bounds
  let isFull = false
  const visit = (event: AuditEvent | undefined): boolean => {
    if (!event) return false
    const time = parseTimestamp(event.created_at)!
    rest = order === 'asc' ? { from: time + 1, to: rest.to } : { from: rest.from, to: time - 1 }
    if (matches(event)) isFull = collector.add(event)
    return isFull
  }
  const run = {
    bounds: () => rest,
    start: (view: IndexView) => candidatesInTime(view, filter, order, rest),
    visit,
  }
  const isKnown = await runIndex(indexed, run, toEvent, options)
  return isKnown ? isFull : scanRows(answer, collector, rest, 'scan')
}

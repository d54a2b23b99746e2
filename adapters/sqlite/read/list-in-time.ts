import type { AuditEvent } from '../../../src/event/event.js'
import { beyond, isEmpty, splitAt, type TimeBounds } from '../../../src/filter/bounds.js'
import { type EventCollector, pageCollector } from '../../../src/store-kit/collect.js'
import { type IndexFilter, leadsByValues } from '../../../src/store-kit/index/index-filter.js'
import { candidatesInTime, type IndexView } from '../../../src/store-kit/index/index-list.js'
import type { Steps } from '../../../src/filter/steps.js'
import type { Order } from '../../../src/store-kit/index/part.js'
import { createProbe, type Probe, VALUE_PROBE_SIZE } from '../../../src/store-kit/index/probe.js'
import type { EventPage } from '../../../src/store/store.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { type ListQuery, scanRows } from './list-query.js'
import { coveredTo, runIndex } from './index-run.js'

/** Lists in the order of `created_at`. Reads the first rows one by one, then uses the index. */
export async function listInTime(
  list: ListQuery,
  order: Order,
  bounds: TimeBounds,
): Promise<EventPage> {
  const collector = pageCollector(list.query)
  if (!list.filter) {
    await scanRows(list, collector, bounds)
    return collector.page()
  }
  const { indexed, logState, options } = list
  const probe = probeFor(list)
  const rest = probe.left() > 0 ? await scanRows(list, collector, bounds, probe) : bounds
  if (!rest || isEmpty(rest)) return collector.page()

  options.trace?.enter('index')
  const { covered, rest: others } = splitAt(rest, await coveredTo(indexed, logState, options))
  const askIndex = (): Promise<boolean> => listByIndex(list, collector, order, covered)
  const scanOthers = (): Promise<boolean> => scanAll(list, collector, others)
  const [first, second] = order === 'asc' ? [askIndex, scanOthers] : [scanOthers, askIndex]
  if (!(await first())) await second()
  return collector.page()
}

// A process indexes this number of events in some 100 ms, once. Half of the events that are usually unsealed.
const MAX_UNSEALED = 8192

/** Facts for the choice between a probe and the index. */
interface ProbeChoice {
  readonly filter: IndexFilter | undefined
  readonly logState: Pick<ListQuery['logState'], 'appended' | 'sealed'>
  readonly indexed: Pick<ListQuery['indexed'], 'firstProbe'>
}

/**
 * Depends on the filter and the log alone, so that a query takes the same steps whatever was asked before. Values
 * need no probe if few events are unsealed; else the probe for them is short, and SQL compares them.
 */
export function probeFor({ filter, logState, indexed: { firstProbe } }: ProbeChoice): Probe {
  if (!filter || !leadsByValues(filter)) return createProbe(firstProbe)
  const isKeptUp = logState.appended - logState.sealed <= MAX_UNSEALED
  return createProbe(isKeptUp ? 0 : Math.min(firstProbe, VALUE_PROBE_SIZE), false)
}

/** Returns true if the page is full. */
const scanAll = async (
  list: ListQuery,
  collector: EventCollector,
  bounds: TimeBounds,
): Promise<boolean> => (await scanRows(list, collector, bounds)) === undefined

/** Finds the events within the bounds by the index. Returns true if the page is full. */
async function listByIndex(
  list: ListQuery,
  collector: EventCollector,
  order: Order,
  bounds: TimeBounds,
): Promise<boolean> {
  if (isEmpty(bounds)) return false
  const { indexed, toEvent, logState, options } = list
  options.trace?.enter('index')
  const state: IndexedList = { list, collector, order, rest: bounds, isFull: false }
  const run = {
    logState,
    bounds: () => state.rest,
    start: (view: IndexView) => takeInTime(state, view),
  }
  const isCovered = await runIndex(indexed, run, toEvent, options)
  return isCovered ? state.isFull : scanAll(list, collector, state.rest)
}

interface IndexedList {
  readonly list: ListQuery
  readonly collector: EventCollector
  readonly order: Order
  /** The bounds of the rows that have not been visited yet. */
  rest: TimeBounds
  isFull: boolean
}

function* takeInTime(state: IndexedList, view: IndexView): Steps<void> {
  const { list, collector, order } = state
  let reached: Microseconds
  const eventAt = (time: Microseconds): AuditEvent | undefined => view.eventAt((reached = time))
  const candidates = candidatesInTime({ ...view, eventAt }, list.filter, order, state.rest)
  for (const event of candidates) {
    if (event) {
      const decision = list.matches(event)
      const isMatch = typeof decision === 'boolean' ? decision : yield* decision
      const added = isMatch && collector.add(event)
      state.isFull = typeof added === 'boolean' ? added : yield* added
      // Only now, as the run may start again with the rest.
      state.rest = beyond(state.rest, reached!, order)
      if (state.isFull) return
    }
    yield
  }
}

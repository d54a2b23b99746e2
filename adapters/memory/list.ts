import { type QueryTrace, tracedFilter } from '../../src/store/trace.js'
import type { EventQuery } from '../../src/filter/ast.js'
import { type TimeBounds, timeBounds } from '../../src/filter/bounds.js'
import { compileFilterInSteps } from '../../src/filter/evaluate.js'
import { scanDirection } from '../../src/filter/order.js'
import { createTimeSlices, type TimeSlices } from '../../src/filter/time-slices.js'
import { indexFilter } from '../../src/store-kit/index/index-filter.js'
import { listInTime, type ListPorts } from '../../src/store-kit/planning/list-planner.js'
import { listSorted } from '../../src/store-kit/planning/list-sorted.js'
import { isWork, openView, type Task, type Tasks } from '../../src/store-kit/planning/session.js'
import type { EventPage } from '../../src/store/store.js'
import type { EventIndex } from './event-index.js'
import type { EventRange, Timeline } from './timeline.js'

/** Settings that tests vary. */
export interface MemoryTuning {
  /** Minimum number of events for using the index. Fewer events are checked one by one. */
  readonly minIndexed: number
  /** Number of events that are checked one by one before the index is used. */
  readonly probe: number
}

/** The sources of a list. */
export interface ListSources {
  readonly timeline: Timeline
  readonly index: EventIndex
  readonly tuning: MemoryTuning
  /** Yields to the event loop. */
  readonly pause: () => Promise<void>
}

/**
 * Number of events that a scan checks between two readings of the clock. A reading costs as much as a cheap check.
 */
const CLOCK_STRIDE = 16

/** The index has all events. */
const NEWEST = Number.MAX_SAFE_INTEGER

/** Returns a page of the matching events, as `list-planner.ts` plans it. */
export async function listEvents(
  { timeline, index, tuning, pause }: ListSources,
  query: EventQuery,
  trace: QueryTrace | undefined,
): Promise<EventPage> {
  const { from, to } = timeBounds(query.where)
  const bounds = { from, to: Math.min(to, NEWEST) }
  const range = timeline.between(from, to)
  const direction = scanDirection(query.sorts)
  const size = direction ? range.to - range.from : timeline.size
  const isIndexed = size >= tuning.minIndexed
  const filter = isIndexed ? indexFilter(query.where) : undefined
  const slices = createTimeSlices(pause)
  const ports: ListPorts = {
    query,
    filter,
    hasIndex: isIndexed,
    matches: tracedFilter(trace, compileFilterInSteps(query.where)),
    probe: { any: tuning.probe, forValues: tuning.probe },
    maxFetched: 0,
    enter(method, reason) {
      const step = trace?.enter(method)
      // Without an index, there is no choice to explain.
      if (step && isIndexed) step.reason = reason
      return undefined
    },
    scan: (request) => scan(range, bounds, request, slices),
    coveredTo: () => Promise.resolve(NEWEST),
    async openIndex() {
      const view = await slices.finish(index.view(filter))
      return openView(view, { tasks: tasksIn(slices), filter, trace })
    },
    // A walk along the index reads each event when it reaches it.
    visitAt: () => Promise.resolve(false),
  }
  const collector = direction
    ? await listInTime(ports, direction, bounds)
    : await listSorted(ports, bounds)
  return collector!.page()
}

/** Visits the events one by one, up to the end of the probe if there is one. Returns the bounds that are left. */
async function scan(
  { events, times, from, to }: EventRange,
  bounds: TimeBounds,
  { order = 'desc', visit, probe }: Parameters<ListPorts['scan']>[0],
  slices: TimeSlices,
): Promise<TimeBounds | undefined> {
  const step = order === 'asc' ? 1 : -1
  let at = step > 0 ? from : to - 1
  for (let seen = 1; at >= from && at < to; seen++, at += step) {
    if (probe?.left() === 0)
      return step > 0 ? { from: times[at]!, to: bounds.to } : { from: bounds.from, to: times[at]! }
    const decision = visit(events[at]!, 0)
    if (typeof decision === 'boolean' ? decision : await slices.finish(decision)) return undefined
    probe?.passed(1)
    if (seen % CLOCK_STRIDE === 0 && slices.isOver()) await slices.next()
  }
  return undefined
}

/** Runs tasks one after the other, with turns of the event loop in between. */
function tasksIn(slices: TimeSlices): Tasks {
  const one = async <Result>(task: Task<Result>): Promise<Result> => {
    const started = task()
    return isWork(started) ? slices.finish(started) : started
  }
  const all = async <Result>(tasks: readonly Task<Result>[]): Promise<Result[]> => {
    const results: Result[] = []
    for (const task of tasks) results.push(await one(task))
    return results
  }
  return { all, one }
}

import { parseEventId } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Decide, Steps } from '../../../src/filter/steps.js'
import { createTimeSlices } from '../../../src/filter/time-slices.js'
import type { TimesOf } from '../../../src/store-kit/index/find-postings.js'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import type { Work } from '../../../src/store-kit/index/work.js'
import {
  INDEX_CHANGED,
  isWork,
  READ_LIMIT_EXCEEDED,
  type Task,
  type Tasks,
} from '../../../src/store-kit/planning/session.js'
import type { LogIndex } from '../index/log-index.js'
import type { Tables } from '../schema/log-tables.js'
import type { BoundedListOptions } from './scan.js'

/** The tables and the index of a log. */
export interface Indexed {
  readonly tables: Tables
  readonly index: LogIndex
  /** How many rows a list reads before it uses the index. */
  readonly firstProbe: number
}

/** Calls the work until it returns false. It should return true once `isOver`. */
export type InSlices = (work: (isOver: () => boolean) => boolean) => Promise<void>

/**
 * Runs the work of one query in time slices, each in one snapshot of the file. Sets a damaged segment aside, and throws
 * {@link INDEX_CHANGED}. Throws {@link READ_LIMIT_EXCEEDED} after `latest`, as `performance.now()` counts.
 */
export function createSlices(
  { tables: { connection }, index }: Pick<Indexed, 'tables' | 'index'>,
  options: BoundedListOptions,
  latest = Infinity,
): InSlices {
  const { trace } = options
  const slices = createTimeSlices()
  return async (work) => {
    // The connection would report an error that is thrown within as a failure of the file.
    let ended: unknown
    const slice = (): boolean => {
      const before = index.reads()
      try {
        if (performance.now() > latest) throw READ_LIMIT_EXCEEDED
        return connection.snapshot(() => work(() => slices.isOver()))
      } catch (error) {
        if (error instanceof DamagedSegment) index.setAside(error)
        else if (error !== INDEX_CHANGED && error !== READ_LIMIT_EXCEEDED) throw error
        ended = error === READ_LIMIT_EXCEEDED ? error : INDEX_CHANGED
        return false
      } finally {
        if (trace?.current) trace.current.reads += index.reads() - before
      }
    }
    if (slices.isOver()) await slices.next()
    while (await connection.retry(slice, options)) await slices.next()
    if (ended !== undefined) throw ended
  }
}

/** Visits the items until `visit` returns true. Returns true if it has. */
export async function visitEach<Item>(
  inSlices: InSlices,
  items: readonly Item[],
  visit: Decide<Item>,
): Promise<boolean> {
  let next = 0
  let undecided: Steps<boolean> | undefined
  let isEnough = false
  const step = (): void => {
    if (!undecided) {
      const decision = visit(items[next]!)
      // Only now, as a connection that finds the file locked does the step again.
      next += 1
      if (typeof decision === 'boolean') isEnough = decision
      else undecided = decision
      return
    }
    const { done, value } = undecided.next()
    if (!done) return
    undecided = undefined
    isEnough = value
  }
  const hasMore = (): boolean => !isEnough && (undecided !== undefined || next < items.length)
  await inSlices((isOver) => {
    while (hasMore()) {
      step()
      if (isOver()) break
    }
    return hasMore()
  })
  return isEnough
}

/** Runs tasks one after the other. `isCurrent` returns true if the parts are still there, `undefined` if it needs more time. */
export function createTasks(
  inSlices: InSlices,
  isCurrent: (isOver: () => boolean) => boolean | undefined,
): Tasks {
  const all = async <Result>(tasks: readonly Task<Result>[]): Promise<Result[]> => {
    const results: Result[] = []
    let work: Work<Result> | undefined
    const step = (): void => {
      if (!work) {
        const started = tasks[results.length]!()
        if (isWork(started)) work = started
        else results.push(started)
        return
      }
      const begun = work
      // Work that throws cannot go on: the task starts again if the connection tries again.
      work = undefined
      const next = begun.next()
      if (next.done) results.push(next.value)
      else work = begun
    }
    await inSlices((isOver) => {
      const current = isCurrent(isOver)
      if (current === undefined) return true
      if (!current) throw INDEX_CHANGED
      while (results.length < tasks.length) {
        step()
        if (isOver()) break
      }
      return results.length < tasks.length
    })
    return results
  }
  return { all, one: async (task) => (await all([task]))[0]! }
}

/** The times of the events with these ids. */
export const timesIn =
  ({ events }: Tables): TimesOf =>
  (ids) =>
    ids.flatMap(
      (id): readonly Microseconds[] | Microseconds =>
        events.foreignTime(id) ?? parseEventId(id)?.time ?? [],
    )

import { formatTimestamp, type Microseconds, MINUTE, parseTimestamp } from '../event/timestamp.js'
import { bothOf, type Grouping, oneCondition } from '../filter/ast.js'
import type { EventStore, WaitOptions } from '../store/store.js'

/*
 * The time that a log had reached before a process started. Events that were recorded at a wrong time are no evidence
 * of this time, in whichever process they were recorded.
 */

export interface StartOptions {
  /** A time that is known to have been reached. */
  readonly known: Microseconds | undefined
  /** Maximum gap between two consecutive events. */
  readonly tolerance: Microseconds
  /** The clock when the process started. */
  readonly started: Microseconds | undefined
  /** Time that has passed since the known time. */
  readonly passed: Microseconds
  /** The high-water mark when the log was opened. */
  readonly highWater: Microseconds | undefined
  /** The first event of this process. */
  readonly firstEvent: Microseconds | undefined
}

/** Maximum number of events that are read after a known time. If there are more, the result is an earlier time. */
const MAX_STEPS = 100
/** Maximum difference between the clock of the process and others. */
const MARGIN = MINUTE

const NEWEST_FIRST = [{ attribute: 'created_at', direction: 'desc' }] as const

const created = (predicate: 'lt' | 'lteq' | 'gt', time: Microseconds): Grouping =>
  oneCondition('created_at', predicate, [formatTimestamp(Math.max(0, time))])

async function newestTime(
  store: EventStore,
  where: Grouping | undefined,
  { signal }: WaitOptions,
): Promise<Microseconds | undefined> {
  const { events } = await store.list({ where, sorts: NEWEST_FIRST, limit: 1 }, { signal })
  return events[0] && parseTimestamp(events[0].created_at)
}

/** The newest event that is not of this process. */
async function newestOfOthers(
  store: EventStore,
  { started, passed, firstEvent }: StartOptions,
  options: WaitOptions,
): Promise<Microseconds | undefined> {
  if (firstEvent !== undefined) return newestTime(store, created('lt', firstEvent), options)
  const found = await newestTime(store, undefined, options)
  // An event of this process may be stored before the process knows it.
  const mayBeOwn =
    found !== undefined &&
    started !== undefined &&
    found >= started &&
    found <= started + passed + MARGIN
  return mayBeOwn ? newestTime(store, created('lt', started), options) : found
}

/** Follows the events after a known time until a gap exceeds the tolerance. */
async function follow(
  store: EventStore,
  {
    known,
    tolerance,
    firstEvent = Infinity,
    started = Infinity,
  }: StartOptions & { readonly known: Microseconds },
  options: WaitOptions,
): Promise<Microseconds> {
  // Events of this process are no evidence.
  const end = known < started ? Math.min(firstEvent, started) : firstEvent
  let reached = known
  for (let step = 0; step < MAX_STEPS && reached < end; step++) {
    const next = Math.min(reached + Math.floor(tolerance), end - 1)
    const where = bothOf(created('gt', reached), created('lteq', next))
    const found = await newestTime(store, where, options)
    if (found === undefined) break
    reached = found
  }
  return reached
}

/** The latest time that was reached before the process started; `undefined` if the log was empty. */
export async function findExpected(
  store: EventStore,
  start: StartOptions,
  options: WaitOptions,
): Promise<Microseconds | undefined> {
  const { known, highWater, firstEvent = Infinity } = start
  if (known !== undefined) return follow(store, { ...start, known }, options)
  // A store that was opened again may have events of this process.
  if (highWater === undefined || highWater >= firstEvent)
    return newestOfOthers(store, start, options)
  return highWater === 0 ? undefined : highWater
}

import {
  DAY,
  formatTimestamp,
  type Microseconds,
  MINUTE,
  parseTimestamp,
} from '../event/timestamp.js'
import { bothOf, type Grouping, oneCondition } from '../filter/ast.js'
import type { AuditEvent } from '../event/event.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { ignoreTimeout } from './scan.js'

/*
 * The time that a log had reached before a process started. Events that were recorded at a wrong time are no evidence
 * of it, whether this process or an earlier one recorded them.
 */

export interface StartOptions {
  /** A time that is known to have been reached. */
  readonly known: Microseconds | undefined
  /** How far events may be apart. */
  readonly tolerance: Microseconds
  /** The clock when the process started. */
  readonly started: Microseconds | undefined
  /** How much time has passed since. */
  readonly passed: Microseconds
  /** The first event of this process. */
  readonly firstEvent: Microseconds | undefined
}

/** For how long a report of the clock counts. */
const REPORT_COUNTS = 7 * DAY
/** Most events that are read on the way from a known time. Beyond, the time that was found is in the past. */
const MAX_STEPS = 100
const MAX_REPORTS = 10
/** Between the clock of the process and those of others. */
const MARGIN = MINUTE

const NEWEST_FIRST = [{ attribute: 'created_at', direction: 'desc' }] as const
const created = (predicate: 'lt' | 'lteq' | 'gt', time: Microseconds): Grouping =>
  oneCondition('created_at', predicate, [formatTimestamp(Math.max(0, time))])

const timeOf = (text: unknown): Microseconds | undefined =>
  typeof text === 'string' ? parseTimestamp(text) : undefined

async function newest(
  store: EventStore,
  where: Grouping | undefined,
  limit: number,
  { signal }: WaitOptions,
): Promise<readonly AuditEvent[]> {
  return (await store.list({ where, sorts: NEWEST_FIRST, limit }, { signal })).events
}

/** The events that are not of this process. */
function ofOthers({ started, passed, firstEvent }: StartOptions): Grouping | undefined {
  if (firstEvent !== undefined) return created('lt', firstEvent)
  if (started === undefined) return undefined
  // Events of this process may be stored of which it does not know yet.
  const groupings = [created('lt', started), created('gt', started + passed + MARGIN)]
  return { combinator: 'or', conditions: [], groupings }
}

/** Follows the events from a known time, as far as the next one is never further away than the tolerance. */
async function follow(
  store: EventStore,
  { tolerance, ...start }: StartOptions & { readonly known: Microseconds },
  options: WaitOptions,
): Promise<Microseconds> {
  const others = ofOthers({ tolerance, ...start })
  let reached = start.known
  for (let step = 0; step < MAX_STEPS; step++) {
    const next = bothOf(created('gt', reached), created('lteq', reached + Math.floor(tolerance)))
    const page = await ignoreTimeout(newest(store, bothOf(others, next), 1, options))
    if (!page?.[0]) break
    reached = parseTimestamp(page[0].created_at)!
  }
  return reached
}

/** What was expected when a process reported that the clock is ahead, where the present clock agrees with that one. */
async function reported(
  store: EventStore,
  { tolerance, started }: StartOptions,
  options: WaitOptions,
): Promise<Microseconds | undefined> {
  if (started === undefined) return undefined
  const reports = oneCondition('type', 'eq', ['warn:audit_log:clock'])
  const found = await ignoreTimeout(newest(store, reports, MAX_REPORTS, options))
  for (const { attributes } of found ?? []) {
    const clock = timeOf(attributes['clock_time'])
    const expected = timeOf(attributes['expected_time'])
    if (clock === undefined || expected === undefined) continue
    const isRecent = clock <= started && clock > started - REPORT_COUNTS
    if (isRecent && clock - expected > tolerance) return expected
  }
  return undefined
}

/** The latest time that was reached before the process; `undefined` if the log was empty. */
export async function findExpected(
  store: EventStore,
  start: StartOptions,
  options: WaitOptions,
): Promise<Microseconds | undefined> {
  const { known } = start
  if (known !== undefined) return follow(store, { ...start, known }, options)
  const [event] = await newest(store, ofOthers(start), 1, options)
  if (!event) return undefined
  const found = parseTimestamp(event.created_at)!
  return Math.min(found, (await reported(store, start, options)) ?? found)
}

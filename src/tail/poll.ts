import type { AuditEvent } from '../event/event.js'
import { parseEventId } from '../event/event-id.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, oneCondition } from '../filter/ast.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { parseTimestamp } from '../event/timestamp.js'

/** Everything up to this `created_at` has been met; `undefined` before the first event. */
export type Position = string | undefined

export interface TailFilter {
  readonly where: Grouping | undefined
  readonly matches: (event: AuditEvent) => boolean
}

export interface Found {
  readonly events: readonly AuditEvent[]
  readonly position: Position
  /** True where there is more to be had at once. */
  readonly hasMore: boolean
}

/** What is read from: a store, or a log. */
export type EventLister = Pick<EventStore, 'list'>

/** What comes after `position`, up to `end`, the newest event there was a moment ago. */
export type Look = (
  store: EventLister,
  filter: TailFilter,
  position: Position,
  end: Position,
  options: WaitOptions,
  limit?: number,
) => Promise<Found>

const OLDEST_FIRST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]

/** The `created_at` of the newest event. */
export async function newestTime(store: EventLister, options: WaitOptions): Promise<Position> {
  const page = await store.list({ where: undefined, sorts: [], limit: 1 }, options)
  return page.events[0]?.created_at
}

/**
 * Asks for the newest event whether it matches or not: it tells that all before it was there to be
 * found. So what does not match is not scanned twice, and a store may answer from a copy that is
 * behind the one it answered from before.
 */
export const look: Look = (store, filter, position, end, options, limit) => {
  const { where, matches } = filter
  const isEnd = end === undefined ? undefined : oneCondition('created_at', 'eq', [end])
  const wanted = where && isEnd && eitherOf(where, isEnd)
  const isFound = (event: AuditEvent): boolean => event.created_at !== end || matches(event)
  return find(store, wanted, isFound, position, end, options, limit)
}

/** All of it, filtered here: far more to read, but it gets on where `look` takes too long. */
export const step: Look = (store, { matches }, position, end, options, limit) =>
  find(store, undefined, matches, position, end, options, limit)

async function find(
  store: EventLister,
  wanted: Grouping | undefined,
  isFound: (event: AuditEvent) => boolean,
  position: Position,
  end: Position,
  options: WaitOptions,
  limit = MAX_LIMIT,
): Promise<Found> {
  if (end === undefined || (position !== undefined && end <= position))
    return { events: [], position, hasMore: false }
  const after = position === undefined ? undefined : oneCondition('created_at', 'gt', [position])
  const between = bothOf(after, oneCondition('created_at', 'lteq', [end]))
  const query = { where: bothOf(between, wanted), sorts: OLDEST_FIRST, limit }
  const { events, truncated } = await store.list(query, options)
  return {
    events: events.filter((event) => carriesItsTime(event) && isFound(event)),
    position: events.at(-1)?.created_at ?? position,
    hasMore: truncated,
  }
}

function eitherOf(left: Grouping, right: Grouping): Grouping {
  return { combinator: 'or', conditions: [], groupings: [left, right] }
}

/** Not so the ids of events imported from elsewhere: these are of the past and are not delivered. */
function carriesItsTime({ id, created_at }: AuditEvent): boolean {
  const time = parseEventId(id)?.time
  return time !== undefined && time === parseTimestamp(created_at)
}

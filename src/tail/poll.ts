import type { AuditEvent } from '../event/event.js'
import { carriesTime } from '../event/event-id.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, oneCondition } from '../filter/ast.js'
import type { Decide, Decision } from '../filter/steps.js'
import { filterInTurns } from '../filter/time-slices.js'
import type { EventPage, ListOptions, ReadOptions } from '../store/store.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import { readToken } from '../store/consistency-token.js'

/** The cursor of a reader of an empty log, before every event. */
export const BEGINNING = '0000-01-01T00:00:00.000000Z'

export interface TailFilter {
  readonly where: Grouping | undefined
  readonly matches: Decide<AuditEvent>
}

/** A store, or a log. */
export interface EventLister {
  /** A log must not need keys for this: only times of events are read. */
  list(
    query: EventQuery,
    options?: ListOptions & { readonly personal?: 'stored' },
  ): Promise<EventPage>
}

export interface PollRange {
  /** Events after this `created_at`. */
  readonly after: string
  /** The `created_at` of the newest event; `undefined` without events. */
  readonly upTo: string | undefined
}

export interface PollOptions extends ReadOptions {
  /** @default the largest limit of a query */
  readonly limit?: number | undefined
}

export interface PollResult {
  /** Oldest first. */
  readonly events: readonly AuditEvent[]
  /** The reader has all events up to this `created_at`. */
  readonly cursor: string
  /** True if the range has more events than the limit. */
  readonly hasMore: boolean
}

/** Like {@link PollResult}. */
export interface SessionPollResult extends PollResult {
  /** True if the store has later events, but none at the cursor. */
  readonly isCursorGone: boolean
}

/** Reads the matching events of a range. */
export type Poll = (
  store: EventLister,
  filter: TailFilter,
  range: PollRange,
  options: PollOptions,
) => Promise<PollResult>

const OLDEST_FIRST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]

/**
 * The `created_at` of the newest event; `undefined` without events. This event and all events before it are durable,
 * so events that a tail has returned cannot be lost.
 */
export async function newestTime(
  store: EventLister,
  options: ReadOptions,
): Promise<string | undefined> {
  const query = { where: undefined, sorts: [], limit: 1 }
  const page = await store.list(query, { ...options, durable: true, personal: 'stored' })
  return page.events[0]?.created_at
}

/** The cursor of a reader of new events: after the newest event, and not before the state of the token. */
export async function startCursor(
  newest: Promise<string>,
  { consistencyToken }: ReadOptions,
): Promise<string> {
  const token = readToken(consistencyToken)
  const cursor = await newest
  // Another server may be read from now on, and it may lack recent events.
  if (!token || token.isNewest) return cursor
  const known = formatTimestamp(token.time)
  return known > cursor ? known : cursor
}

/** The cursor for reading all events after the newest one. */
export async function newestCursor(store: EventLister, options: ReadOptions): Promise<string> {
  return (await newestTime(store, options)) ?? BEGINNING
}

/**
 * Queries the matching events, and the newest event in any case. An answer with the newest event also has all events
 * before it. So events that do not match are not scanned twice, and a store may answer from a replica that lags
 * behind the replica of the previous answer.
 */
export const pollMatching: Poll = (store, { where, matches }, range, options) => {
  const { upTo } = range
  const isNewest = upTo === undefined ? undefined : oneCondition('created_at', 'eq', [upTo])
  const queried = where && isNewest && eitherOf(where, isNewest)
  const isMatch = (event: AuditEvent): Decision => event.created_at !== upTo || matches(event)
  return poll(store, { where: queried, matches: isMatch }, range, options)
}

/**
 * Reads all events and filters them here. This reads more events, but it advances even if the filtered query times
 * out.
 */
export const pollAll: Poll = (store, { matches }, range, options) =>
  poll(store, { where: undefined, matches }, range, options)

const poll: Poll = async (store, { where, matches }, { after, upTo }, { limit, ...options }) => {
  if (upTo === undefined || upTo <= after) return { events: [], cursor: after, hasMore: false }
  const isAfter = oneCondition('created_at', 'gt', [after])
  const range = bothOf(isAfter, oneCondition('created_at', 'lteq', [upTo]))
  const query = { where: bothOf(range, where), sorts: OLDEST_FIRST, limit: limit ?? MAX_LIMIT }
  const { events, truncated } = await store.list(query, options)
  return {
    events: await filterInTurns(events.filter(carriesItsTime), matches),
    cursor: events.at(-1)?.created_at ?? after,
    hasMore: truncated,
  }
}

/** Reads all events of a range, and finds out whether the store has the event at its beginning. */
export async function pollSession(
  store: EventLister,
  { after, upTo }: PollRange,
  options: ReadOptions,
): Promise<SessionPollResult> {
  if (upTo === undefined || upTo <= after)
    return { events: [], cursor: after, hasMore: false, isCursorGone: false }
  const from = oneCondition('created_at', 'gteq', [after])
  const where = bothOf(from, oneCondition('created_at', 'lteq', [upTo]))
  const query = { where, sorts: OLDEST_FIRST, limit: MAX_LIMIT }
  const { events, truncated } = await store.list(query, options)
  const isThere = events[0]?.created_at === after
  const later = isThere ? events.slice(1) : events
  return {
    events: later.filter(carriesItsTime),
    cursor: later.at(-1)?.created_at ?? after,
    hasMore: truncated,
    isCursorGone: !isThere && later.length > 0,
  }
}

function eitherOf(left: Grouping, right: Grouping): Grouping {
  return { combinator: 'or', conditions: [], groupings: [left, right] }
}

/** False for most imported events, which belong to the past and are not delivered. */
export function carriesItsTime({ id, created_at }: AuditEvent): boolean {
  const time = parseTimestamp(created_at)
  return time !== undefined && carriesTime(id, time)
}

import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { bothOf, type EventQuery, oneCondition } from '../filter/ast.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import type { Filter } from './filters.js'

// Small, so that those who record meanwhile wait little, and large events take little memory.
const PAGE = 200
const MAX_REST_MS = 50

export interface ScanOptions extends WaitOptions {
  readonly direction: 'asc' | 'desc'
  /** @default undefined all events */
  readonly filter?: Filter | undefined
  /** Only events that were created before this. */
  readonly before?: Microseconds | undefined
}

/** The events in pages, along `created_at`; half of the time is left to others. */
export async function* scan(
  store: EventStore,
  { direction, filter, before, signal }: ScanOptions,
): AsyncGenerator<readonly AuditEvent[], void, void> {
  const sorts: EventQuery['sorts'] = [{ attribute: 'created_at', direction }]
  const end = before === undefined ? undefined : createdBefore(before)
  let passed: EventQuery['where']
  let isTooLong = false
  for (;;) {
    const began = performance.now()
    const between = bothOf(end, passed)
    const where = bothOf(isTooLong ? undefined : filter?.where, between)
    const query = { where, sorts, limit: PAGE }
    const listing = store.list(query, { signal })
    const page = filter && !isTooLong ? await unlessTooLong(listing) : await listing
    if (!page) {
      // Filtered here it is more to read, but gets on where the store takes too long to find any.
      isTooLong = true
      continue
    }
    const events = isTooLong ? page.events.filter(filter!.matches) : page.events
    if (events.length > 0) yield events
    if (!page.truncated) return
    const last = page.events.at(-1)!.created_at
    passed = oneCondition('created_at', direction === 'asc' ? 'gt' : 'lt', [last])
    await delay(Math.min(performance.now() - began, MAX_REST_MS))
  }
}

/** True where one of the events created before matches one of the filters; also where that takes too long to tell. */
export async function mayMatch(
  store: EventStore,
  filters: readonly Filter[],
  before: Microseconds,
  options: WaitOptions,
): Promise<boolean> {
  if (filters.length === 0) return false
  const groupings = filters.map((filter) => filter.where)
  const where = bothOf(createdBefore(before), { combinator: 'or', conditions: [], groupings })
  const page = await unlessTooLong(store.list({ where, sorts: [], limit: 1 }, options))
  return page === undefined || page.events.length > 0
}

const createdBefore = (time: Microseconds): EventQuery['where'] =>
  oneCondition('created_at', 'lt', [formatTimestamp(time)])

/** `undefined` where it took longer than the store lets a query take. */
export async function unlessTooLong<Answer>(asking: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof AuditLogError && error.code === 'QUERY_TIMEOUT') return undefined
    throw error
  }
}

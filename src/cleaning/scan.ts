import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import { bothOf, type EventQuery, oneCondition } from '../filter/ast.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp, type Microseconds } from '../event/timestamp.js'
import type { Filter } from './filters.js'

// Number of events in a page. Small pages delay concurrent appends little, and need little memory for large events.
const PAGE_SIZE = 200
const MAX_PAUSE_MS = 50

export interface ScanOptions extends WaitOptions {
  readonly direction: 'asc' | 'desc'
  /** @default all events */
  readonly filter?: Filter | undefined
  /** Only events before this time. */
  readonly before?: Microseconds | undefined
  /** As `lazy` of a list. */
  readonly lazy?: boolean | undefined
}

/** The events in pages, in the order of `created_at`. Pauses half of the time, for other work. */
export async function* scan(
  store: EventStore,
  { direction, filter, before, lazy, signal }: ScanOptions,
): AsyncGenerator<readonly AuditEvent[], void, void> {
  const sorts: EventQuery['sorts'] = [{ attribute: 'created_at', direction }]
  const end = before === undefined ? undefined : createdBefore(before)
  let passed: EventQuery['where']
  let hasTimedOut = false
  for (;;) {
    const began = performance.now()
    const between = bothOf(end, passed)
    const where = bothOf(hasTimedOut ? undefined : filter?.where, between)
    const query = { where, sorts, limit: PAGE_SIZE }
    const listing = store.list(query, { signal, durable: true, lazy })
    const page = filter && !hasTimedOut ? await ignoreTimeout(listing) : await listing
    if (!page) {
      // The query timed out. Read all further events, and filter them here.
      hasTimedOut = true
      continue
    }
    const events = hasTimedOut ? page.events.filter(filter!.matches) : page.events
    if (events.length > 0) yield events
    if (!page.truncated) return
    const last = page.events.at(-1)!.created_at
    passed = oneCondition('created_at', direction === 'asc' ? 'gt' : 'lt', [last])
    await delay(Math.min(performance.now() - began, MAX_PAUSE_MS))
  }
}

/** True if an event before this time matches one of the filters, or if the query times out. */
export async function mayMatch(
  store: EventStore,
  filters: readonly Filter[],
  before: Microseconds,
  options: WaitOptions,
): Promise<boolean> {
  if (filters.length === 0) return false
  const groupings = filters.map((filter) => filter.where)
  const where = bothOf(createdBefore(before), { combinator: 'or', conditions: [], groupings })
  const page = await ignoreTimeout(store.list({ where, sorts: [], limit: 1 }, options))
  return page === undefined || page.events.length > 0
}

const createdBefore = (time: Microseconds): EventQuery['where'] =>
  oneCondition('created_at', 'lt', [formatTimestamp(time)])

/** Resolves to `undefined` on `QUERY_TIMEOUT`. */
export async function ignoreTimeout<Answer>(request: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await request
  } catch (error) {
    if (error instanceof AuditLogError && error.code === 'QUERY_TIMEOUT') return undefined
    throw error
  }
}

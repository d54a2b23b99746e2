import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError, type AuditLogErrorCode, throwIfAborted, untilAborted } from './errors.js'
import type { AuditEvent } from './event.js'
import { parseEventId } from './event-id.js'
import { bothOf, type EventQuery, type Grouping, MAX_LIMIT, oneCondition } from './filter/ast.js'
import { compileFilter } from './filter/evaluate.js'
import type { EventStore, WaitOptions } from './store.js'
import { formatTimestamp, parseTimestamp } from './timestamp.js'

export interface TailOptions extends WaitOptions {
  /**
   * Give what became visible after this `created_at`, such as that of the last event met before.
   * @default from now on
   */
  readonly after?: string | undefined
}

/** Events as they become visible. Leaving the loop, `return` and `await using` end it. */
export interface EventTail extends AsyncIterableIterator<AuditEvent, void, void> {
  /** Ends it, also while `next` waits. */
  return(): Promise<IteratorReturnResult<void>>
  [Symbol.asyncDispose](): Promise<void>
}

/** The tails of one log, and what it tells them. */
export interface Following {
  tail(readQuery: () => EventQuery, options: TailOptions): EventTail
  /** The log has stored these itself. */
  stored(events: readonly AuditEvent[]): void
  /** Makes all tails look at once. */
  wake(): void
}

// A lost hint costs no more than this.
const POLL_MS = 1000
// Hints that come faster share one look.
const GAP_MS = 10

const OLDEST_FIRST: EventQuery['sorts'] = [{ attribute: 'created_at', direction: 'asc' }]

// What a store gets over; with other errors a tail ends.
const PASSING: ReadonlySet<AuditLogErrorCode> = new Set(['STORE_FAILED', 'QUERY_TIMEOUT'])

/** Everything up to this `created_at` has been met; `undefined` before the first event. */
type Position = string | undefined

interface Filter {
  readonly where: Grouping | undefined
  readonly matches: (event: AuditEvent) => boolean
}

interface Found {
  readonly events: readonly AuditEvent[]
  readonly position: Position
  /** True where there is more to be had at once. */
  readonly hasMore: boolean
}

export function createFollowing(store: EventStore): Following {
  /** Tails that do not know yet where they start, and what the log has stored since they were made. */
  const starting = new Set<{ first: Position }>()
  const waiting = new Set<() => void>()

  const newest = async (options: WaitOptions): Promise<Position> => {
    const page = await store.list({ where: undefined, sorts: [], limit: 1 }, options)
    return page.events[0]?.created_at
  }

  /** The newest event as the call is made, however late the store looks. */
  const now = async (options: WaitOptions): Promise<Position> => {
    const start: { first: Position } = { first: undefined }
    starting.add(start)
    try {
      const found = await newest(options)
      const { first } = start
      if (first === undefined || found === undefined || found < first) return found
      return formatTimestamp(parseTimestamp(first)! - 1)
    } finally {
      starting.delete(start)
    }
  }

  /**
   * Looks no further than the newest event, and asks for that one whether it matches or not: it
   * tells that all before it was there to be found. So what does not match is not scanned twice, and
   * a store may answer from a copy that is behind the one it answered from before.
   */
  const look = async (
    { where, matches }: Filter,
    position: Position,
    options: WaitOptions,
  ): Promise<Found> => {
    const end = await newest(options)
    if (end === undefined || (position !== undefined && end <= position))
      return { events: [], position, hasMore: false }
    const after = position === undefined ? undefined : oneCondition('created_at', 'gt', [position])
    const between = bothOf(after, oneCondition('created_at', 'lteq', [end]))
    const wanted = where && eitherOf(where, oneCondition('created_at', 'eq', [end]))
    const query = { where: bothOf(between, wanted), sorts: OLDEST_FIRST, limit: MAX_LIMIT }
    const { events, truncated } = await store.list(query, options)
    return {
      events: events.filter(
        (event) => carriesItsTime(event) && (event.created_at !== end || matches(event)),
      ),
      position: events.at(-1)?.created_at ?? position,
      hasMore: truncated,
    }
  }

  /** What comes next, filtered here: far more to read, but it gets on where `look` takes too long. */
  const step = async (
    { matches }: Filter,
    position: Position,
    options: WaitOptions,
  ): Promise<Found> => {
    const where = position === undefined ? undefined : oneCondition('created_at', 'gt', [position])
    const query = { where, sorts: OLDEST_FIRST, limit: MAX_LIMIT }
    const { events, truncated } = await store.list(query, options)
    return {
      events: events.filter((event) => carriesItsTime(event) && matches(event)),
      position: events.at(-1)?.created_at ?? position,
      hasMore: truncated,
    }
  }

  const open = async (
    readQuery: () => EventQuery,
    { after, signal }: TailOptions,
  ): Promise<{ filter: Filter; position: Position }> => {
    const { where, sorts } = readQuery()
    const filter = { where, matches: compileFilter(where) }
    if (sorts.length > 0) {
      const message = 'filter[sorts]: a tail runs along created_at'
      throw new AuditLogError('INVALID_VALUE', message, { parameter: 'filter[sorts]' })
    }
    throwIfAborted(signal)
    if (after === undefined) return { filter, position: await now({ signal }) }
    const time = parseTimestamp(after)
    if (time === undefined) {
      const message = 'after: must be an ISO 8601 timestamp, such as the created_at of an event'
      throw new AuditLogError('INVALID_VALUE', message, { parameter: 'after' })
    }
    return { filter, position: formatTimestamp(time) }
  }

  async function* run(
    opening: ReturnType<typeof open>,
    stop: AbortController,
    given: AbortSignal | undefined,
  ): AsyncGenerator<AuditEvent, void, void> {
    const { signal } = stop
    let isHinted = false
    let wake = (): void => {}
    const hint = (): void => {
      isHinted = true
      wake()
    }
    /** Resolves after so long, when the tail is stopped, and, where it is woken, at a hint. */
    const pause = (ms: number, isWoken: boolean): Promise<void> =>
      new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', end)
          wake = () => {}
          resolve()
        }
        // Whoever waits for an event keeps the process alive, as with any call.
        const timer = setTimeout(end, ms)
        signal.addEventListener('abort', end)
        if (isWoken) wake = end
        if (signal.aborted || (isWoken && isHinted)) end()
      })
    const onAbort = (): void => stop.abort(given!.reason)
    given?.addEventListener('abort', onAbort, { once: true })
    if (given?.aborted) onAbort()
    const unwatch = store.watch(hint)
    waiting.add(hint)
    try {
      let { filter, position } = await untilAborted(opening, signal)
      let isTooLong = false
      while (!signal.aborted) {
        isHinted = false
        const looking = (isTooLong ? step : look)(filter, position, { signal })
        const found = await attempt(looking, () => (isTooLong = true))
        // Once there is no more, what comes is little.
        if (found?.hasMore === false) isTooLong = false
        for (const event of found?.events ?? []) {
          if (signal.aborted) break
          yield event
        }
        if (found) ({ position } = found)
        if (found?.hasMore) await nextTurn()
        else {
          await pause(GAP_MS, false)
          await pause(POLL_MS, found !== undefined)
        }
      }
      throwIfAborted(given)
    } catch (error) {
      // Ended by `return` it ends well, whatever it was doing.
      if (!signal.aborted || given?.aborted) throw error
    } finally {
      given?.removeEventListener('abort', onAbort)
      waiting.delete(hint)
      unwatch()
    }
  }

  return {
    tail(readQuery, options) {
      const stop = new AbortController()
      const opening = open(readQuery, options)
      // It may never be asked for anything.
      opening.catch(() => {})
      const events = run(opening, stop, options.signal)
      const end = async (): Promise<IteratorReturnResult<void>> => {
        stop.abort()
        await events.return()
        return { done: true, value: undefined }
      }
      return {
        next: () => events.next(),
        return: end,
        [Symbol.asyncIterator]() {
          return this
        },
        async [Symbol.asyncDispose]() {
          await end()
        },
      }
    },
    stored(events) {
      for (const start of starting) start.first ??= events[0]?.created_at
    },
    wake() {
      for (const hint of waiting) hint()
    },
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

/** What was found, or `undefined` where the store failed in a way that passes. */
async function attempt(looking: Promise<Found>, onTimeout: () => void): Promise<Found | undefined> {
  try {
    return await looking
  } catch (error) {
    if (!(error instanceof AuditLogError) || !PASSING.has(error.code)) throw error
    if (error.code === 'QUERY_TIMEOUT') onTimeout()
    return undefined
  }
}

/** Those who watch a store, for its `watch`. */
export interface Watchers {
  /** Gives what takes the hint off again. */
  add(hint: () => void): () => void
  /** Calls all; none that throws stops the others or the caller. */
  hint(): void
  clear(): void
  readonly size: number
}

export function createWatchers(): Watchers {
  const hints = new Set<{ readonly hint: () => void }>()
  return {
    add(hint) {
      const watcher = { hint }
      hints.add(watcher)
      return () => void hints.delete(watcher)
    },
    hint() {
      for (const { hint } of hints) {
        try {
          hint()
        } catch {
          // A hint is no more than that.
        }
      }
    },
    clear: () => hints.clear(),
    get size() {
      return hints.size
    },
  }
}

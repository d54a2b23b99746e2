import { setImmediate as nextTurn } from 'node:timers/promises'
import { AuditLogError, type AuditLogErrorCode, throwIfAborted, untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventQuery, Grouping } from '../filter/ast.js'
import { compileFilter } from '../filter/evaluate.js'
import { createChangeTracker, type EventChange, sharedLoads } from './changes.js'
import { type Found, look, newestTime, type Position, step, type TailFilter } from './poll.js'
import type { EventStore, OpenEvent, WaitOptions } from '../store/store.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'

export interface TailOptions extends WaitOptions {
  /**
   * Give what became visible after this `created_at`, such as that of the last event met before.
   * @default from now on
   */
  readonly after?: string | undefined
  /**
   * Also give what becomes of live events, as {@link EventChange}: of those it gives, and of those
   * that are open and match as it starts. Which of the latter are followed is decided then: one that
   * begins to match later is not. Changes of an event that come fast are given together. An event
   * that was closed while nobody followed has no more changes: who resumes reads it with `get`.
   * @default false
   */
  readonly changes?: boolean | undefined
  /**
   * With `changes`, what the reader may see, which the query has to ask for as well: a live event that no
   * longer passes it is followed no longer, and the change that hid it is not given.
   * @default everything
   */
  readonly visible?: Grouping | undefined
}

/** Events as they become visible. Leaving the loop, `return` and `await using` end it. */
export interface EventTail<Item = AuditEvent> extends AsyncIterableIterator<Item, void, void> {
  /** Ends it, also while `next` waits. */
  return(): Promise<IteratorReturnResult<void>>
  [Symbol.asyncDispose](): Promise<void>
}

/** The tails of one log, and what it tells them. */
export interface Following {
  /** Without `changes` there are events only. */
  tail(readQuery: () => EventQuery, options: TailOptions): EventTail<AuditEvent | EventChange>
  /** The log has stored these itself. */
  stored(events: readonly AuditEvent[]): void
  /** Makes all tails look at once. */
  wake(): void
}

// A lost hint costs no more than this.
const POLL_MS = 1000
// Hints that come faster share one look.
const GAP_MS = 10

// What a store gets over; with other errors a tail ends.
const PASSING: ReadonlySet<AuditLogErrorCode> = new Set(['STORE_FAILED', 'QUERY_TIMEOUT'])

export function createFollowing(store: EventStore): Following {
  /** Tails that do not know yet where they start, and what the log has stored since they were made. */
  const starting = new Set<{ first: Position }>()
  const waiting = new Set<() => void>()
  const loadLive = sharedLoads(store)

  /** The newest event as the call is made, however late the store looks. */
  const now = async (options: WaitOptions): Promise<Position> => {
    const start: { first: Position } = { first: undefined }
    starting.add(start)
    try {
      const found = await newestTime(store, options)
      const { first } = start
      if (first === undefined || found === undefined || found < first) return found
      return formatTimestamp(parseTimestamp(first)! - 1)
    } finally {
      starting.delete(start)
    }
  }

  const open = async (
    readQuery: () => EventQuery,
    { after, signal }: TailOptions,
  ): Promise<{ filter: TailFilter; position: Position }> => {
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
    { signal: given, changes, visible }: TailOptions,
  ): AsyncGenerator<AuditEvent | EventChange, void, void> {
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
      const tracker = changes
        ? createChangeTracker(loadLive, filter, position, compileFilter(visible))
        : undefined
      let isTooLong = false
      let hasFailed = false
      const onFailure = (code: AuditLogErrorCode): void => {
        hasFailed = true
        isTooLong ||= code === 'QUERY_TIMEOUT'
      }
      const lookOn = async (): Promise<Found & { readonly open: readonly OpenEvent[] }> => {
        const end = await newestTime(store, { signal })
        // All up to `end` is visible by now: what of it is open later on is among these.
        const open = tracker ? await store.openEvents({ signal }) : []
        const found = await (isTooLong ? step : look)(store, filter, position, end, { signal })
        return { ...found, open }
      }
      while (!signal.aborted) {
        isHinted = false
        hasFailed = false
        const found = await attempt(lookOn(), onFailure)
        // Once there is no more, what comes is little.
        if (found?.hasMore === false) isTooLong = false
        for (const event of found?.events ?? []) {
          if (signal.aborted) break
          tracker?.give(event, found!.open)
          yield event
        }
        if (found) ({ position } = found)
        for (const { id, revision } of (found && tracker?.due(found.open)) ?? []) {
          if (signal.aborted || hasFailed) break
          const change = await attempt(tracker!.change(id, revision, { signal }), onFailure)
          if (change) yield change
        }
        if (found?.hasMore) await nextTurn()
        else {
          await pause(GAP_MS, false)
          await pause(POLL_MS, !hasFailed)
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
      const events = run(opening, stop, options)
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

/** The answer, or `undefined` where the store failed in a way that passes. */
export async function attempt<Answer>(
  asking: Promise<Answer>,
  onFailure: (code: AuditLogErrorCode) => void,
): Promise<Answer | undefined> {
  try {
    return await asking
  } catch (error) {
    if (!(error instanceof AuditLogError) || !PASSING.has(error.code)) throw error
    onFailure(error.code)
    return undefined
  }
}

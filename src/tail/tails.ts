import { AuditLogError, throwIfAborted, untilAborted } from '../errors.js'
import type { AuditEvent } from '../event/event.js'
import type { EventQuery, Grouping } from '../filter/ast.js'
import { compileFilterInSteps } from '../filter/evaluate.js'
import { createChangeTracker, type EventChange, sharedLoads } from './changes.js'
import { newestTime, type Position, type TailFilter } from './poll.js'
import { runTail } from './run-tail.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import { formatTimestamp, parseTimestamp } from '../event/timestamp.js'
import { createWaker } from './waker.js'

export interface TailOptions extends WaitOptions {
  /**
   * Deliver events after this `created_at`, such as that of the last event received.
   * @default the time of the call
   */
  readonly after?: string | undefined
  /**
   * Also deliver changes of live events, as {@link EventChange}: of the events that the tail
   * delivers, and of those that are open and match when it starts. An open event that begins to match
   * later is not followed. Several changes in quick succession are delivered as one. Changes made
   * while nothing followed the event are not delivered: read a closed event with `get`.
   * @default false
   */
  readonly changes?: boolean | undefined
  /**
   * With `changes`: what the reader may see. The query has to contain the same condition. A live event
   * that no longer satisfies it is no longer followed, and the change that hid it is not delivered.
   * @default everything
   */
  readonly visible?: Grouping | undefined
}

/** Events as they become visible. Ends when the loop is left, by `return` or by `await using`. */
export interface EventTail<Item = AuditEvent> extends AsyncIterableIterator<Item, void, void> {
  /** Ends the tail, even while `next` waits. */
  return(): Promise<IteratorReturnResult<void>>
  [Symbol.asyncDispose](): Promise<void>
}

/** The tails of one log. */
export interface Tails {
  /** Yields changes only with the option `changes`. */
  tail(readQuery: () => EventQuery, options: TailOptions): EventTail<AuditEvent | EventChange>
  /** To be called with the events that this log has stored. */
  stored(events: readonly AuditEvent[]): void
  /** Makes all tails poll now. */
  wake(): void
}

interface Opened {
  readonly filter: TailFilter
  readonly position: Position
}

interface Starts {
  /** The position of the newest event at the time of the call, however late the store answers. */
  current(options: WaitOptions): Promise<Position>
  /** To be called with the events that this log has stored. */
  stored(events: readonly AuditEvent[]): void
}

function createStarts(store: EventStore): Starts {
  /** The calls of `current` in progress, with the first event that the log has stored since. */
  const pending = new Set<{ first: Position }>()
  return {
    async current(options) {
      const start: { first: Position } = { first: undefined }
      pending.add(start)
      try {
        const found = await newestTime(store, options)
        const { first } = start
        if (first === undefined || found === undefined || found < first) return found
        return formatTimestamp(parseTimestamp(first)! - 1)
      } finally {
        pending.delete(start)
      }
    },
    stored(events) {
      for (const start of pending) start.first ??= events[0]?.created_at
    },
  }
}

export function createTails(store: EventStore): Tails {
  const starts = createStarts(store)
  const wakers = new Set<() => void>()
  const loadLive = sharedLoads(store)

  const open = async (
    readQuery: () => EventQuery,
    { after, signal }: TailOptions,
  ): Promise<Opened> => {
    const filter = readFilter(readQuery())
    throwIfAborted(signal)
    const position = after === undefined ? await starts.current({ signal }) : readPosition(after)
    return { filter, position }
  }

  async function* run(
    opening: Promise<Opened>,
    stop: AbortController,
    { signal: given, changes, visible }: TailOptions,
  ): AsyncGenerator<AuditEvent | EventChange, void, void> {
    const { signal } = stop
    const waker = createWaker(signal)
    const wake = (): void => waker.wake()
    const onAbort = (): void => stop.abort(given!.reason)
    given?.addEventListener('abort', onAbort, { once: true })
    if (given?.aborted) onAbort()
    const unwatch = store.watch(wake)
    wakers.add(wake)
    try {
      const { filter, position: start } = await untilAborted(opening, signal)
      const tracker = changes
        ? createChangeTracker({
            load: loadLive,
            filter,
            start,
            isVisible: compileFilterInSteps(visible),
          })
        : undefined
      yield* runTail({ store, filter, start, tracker, waker, signal })
      throwIfAborted(given)
    } catch (error) {
      // `return` aborts whatever the tail is doing; that is not an error.
      if (!signal.aborted || given?.aborted) throw error
    } finally {
      given?.removeEventListener('abort', onAbort)
      wakers.delete(wake)
      unwatch()
    }
  }

  return {
    tail(readQuery, options) {
      const stop = new AbortController()
      const opening = open(readQuery, options)
      // The generator awaits it only once an event is requested.
      opening.catch(() => {})
      return asTail(run(opening, stop, options), stop)
    },
    stored: (events) => starts.stored(events),
    wake() {
      for (const wake of wakers) wake()
    },
  }
}

function readFilter({ where, sorts }: EventQuery): TailFilter {
  if (sorts.length > 0) {
    const message = 'filter[sorts]: a tail is always in the order of created_at'
    throw new AuditLogError('INVALID_VALUE', message, { parameter: 'filter[sorts]' })
  }
  return { where, matches: compileFilterInSteps(where) }
}

function readPosition(after: string): Position {
  const time = parseTimestamp(after)
  if (time !== undefined) return formatTimestamp(time)
  const message = 'after: must be an ISO 8601 timestamp, such as the created_at of an event'
  throw new AuditLogError('INVALID_VALUE', message, { parameter: 'after' })
}

/** Unlike the generator's own `return`, this one does not wait for a pending `next`. */
function asTail<Item>(
  events: AsyncGenerator<Item, void, void>,
  stop: AbortController,
): EventTail<Item> {
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
}

import { ASYNC_DISPOSE } from '../async/disposal.js'
import { throwIfAborted, untilAborted } from '../errors.js'
import type { EventQuery } from '../filter/ast.js'
import type { LogEvent, LogsContext } from './named-logs.js'
import { type LogsTailOptions, openTail, type OpenLogsTail } from './tail-across.js'

/** Events of several logs as they become visible. Ends when the loop is left, by `return` or by `await using`. */
export interface LogsTail extends AsyncIterableIterator<LogEvent, void, void> {
  /**
   * Continues after the events that were returned so far: a text that a URL takes as it is. `undefined` until the start of the
   * tail is known, at the latest with the first event.
   */
  readonly cursor: string | undefined
  /** Ends the tail, even while `next` waits. */
  return(): Promise<IteratorReturnResult<void>>
  [Symbol.asyncDispose](): Promise<void>
}

interface Wanted {
  readonly context: LogsContext
  readonly query: EventQuery
}

/** `read` may throw; then the tail rejects. */
export function createLogsTail(read: () => Wanted, options: LogsTailOptions): LogsTail {
  const { signal: given } = options
  const stop = new AbortController()
  const { signal } = stop
  let opened: OpenLogsTail | undefined

  const open = async (): Promise<OpenLogsTail> => {
    const { context, query } = read()
    opened = await openTail(context, query, { ...options, signal })
    return opened
  }
  const opening = open()
  // The generator awaits it only once an event is requested.
  opening.catch(() => {})

  async function* run(): AsyncGenerator<LogEvent, void, void> {
    const onAbort = (): void => stop.abort(given!.reason)
    given?.addEventListener('abort', onAbort, { once: true })
    if (given?.aborted) onAbort()
    try {
      const tail = await untilAborted(opening, signal)
      for await (const events of tail.batches)
        for (const event of events) {
          if (signal.aborted) break
          tail.received(event)
          yield event
        }
      throwIfAborted(given)
    } catch (error) {
      // `return` aborts whatever the tail is doing; that is not an error.
      if (!signal.aborted || given?.aborted) throw error
    } finally {
      given?.removeEventListener('abort', onAbort)
      stop.abort()
    }
  }

  const events = run()
  const end = async (): Promise<IteratorReturnResult<void>> => {
    stop.abort()
    await events.return()
    return { done: true, value: undefined }
  }
  return {
    next: () => events.next(),
    return: end,
    get cursor() {
      return opened?.cursor()
    },
    [Symbol.asyncIterator]() {
      return this
    },
    async [ASYNC_DISPOSE]() {
      await end()
    },
  }
}

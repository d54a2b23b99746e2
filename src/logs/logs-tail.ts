import type { EventQuery } from '../filter/ast.js'
import { type EventTail, startTail } from '../tail/tails.js'
import type { LogEvent, LogsContext } from './named-logs.js'
import { type LogsTailOptions, openTail, type OpenLogsTail } from './tail-across.js'

/** Events of several logs as they become visible. Ends when the loop is left, by `return` or by `await using`. */
export interface LogsTail extends EventTail<LogEvent> {
  /**
   * Cursor after the events that were returned so far, as a text that needs no encoding in a URL. `undefined` until
   * the start of the tail is known, at the latest with the first event.
   */
  readonly cursor: string | undefined
}

interface Wanted {
  readonly context: LogsContext
  readonly query: EventQuery
}

async function* eventsOf(
  tail: OpenLogsTail,
  signal: AbortSignal,
): AsyncGenerator<LogEvent, void, void> {
  for await (const events of tail.batches)
    for (const event of events) {
      if (signal.aborted) return
      tail.received(event)
      yield event
    }
}

/** `read` may throw; then the tail rejects. */
export function createLogsTail(read: () => Wanted, options: LogsTailOptions): LogsTail {
  let opened: OpenLogsTail | undefined
  const tail = startTail(options.signal, {
    async open(signal) {
      const { context, query } = read()
      opened = await openTail(context, query, { ...options, signal })
      return opened
    },
    read: eventsOf,
  })
  return {
    ...tail,
    get cursor() {
      return opened?.cursor()
    },
  }
}

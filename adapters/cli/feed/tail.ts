import { setTimeout as delay } from 'node:timers/promises'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { AuditLogError, throwIfAborted } from '../../../src/errors.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { CommandError } from '../terminal/exit-codes.js'
import type { FeedClient } from './client.js'
import { type EventDocument, eventOf } from './documents.js'
import { OutageError, unreachable } from './failures.js'

/** Time without any bytes after which the connection counts as dead. A stream sends a comment every 15 seconds. */
const SILENCE_MS = 45_000
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 5000

export interface FeedTailOptions {
  /** The `created_at` after which events are delivered. @default the time of the newest event */
  readonly after?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Called when the feed is out of reach, and with `undefined` once it answers again. */
  readonly onOutage?: ((error: unknown) => void) | undefined
}

export interface FollowOptions extends FeedTailOptions {
  readonly after: string
}

/** True if another attempt can succeed. */
export const isPassing = (error: unknown): boolean =>
  error instanceof OutageError || (error instanceof AuditLogError && error.code === 'QUERY_TIMEOUT')

/** The whole events of one connection. Ends when the server ends the connection. */
async function* eventsIn(
  response: Response,
  silence: AbortController,
): AsyncGenerator<AuditEvent, void, void> {
  const timer = setTimeout(
    () => silence.abort(new Error('the server has fallen silent')),
    SILENCE_MS,
  )
  const decoder = new TextDecoder()
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  try {
    for await (const chunk of response.body!) {
      timer.refresh()
      parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }))
      for (const { event, data } of messages.splice(0))
        if (event === undefined) yield eventOf((JSON.parse(data) as EventDocument).data)
    }
  } finally {
    clearTimeout(timer)
  }
}

/** An error in the middle of a stream comes from the connection. */
function readFailure(error: unknown, url: string): Error {
  const isKnown = error instanceof CommandError || error instanceof AuditLogError
  return isKnown ? error : unreachable(url, error)
}

/**
 * The events after `after`, each once, over all interruptions of the connection. Each new connection continues after
 * the last event that was received whole. Rejects if the first connection fails, if the server refuses the user or
 * the query, and with `ABORTED`.
 */
export async function* followFeed(
  client: Pick<FeedClient, 'request'>,
  url: string,
  { after, signal = new AbortController().signal, onOutage }: FollowOptions,
): AsyncGenerator<AuditEvent, void, void> {
  let cursor = after
  let state: 'new' | 'connected' | 'interrupted' = 'new'
  let pause = FIRST_PAUSE_MS
  for (;;) {
    const silence = new AbortController()
    try {
      const response = await client.request(url, {
        headers: { accept: 'text/event-stream', 'last-event-id': cursor },
        signal: AbortSignal.any([signal, silence.signal]),
      })
      if (state === 'interrupted') onOutage?.(undefined)
      state = 'connected'
      pause = FIRST_PAUSE_MS
      for await (const event of eventsIn(response, silence)) {
        cursor = event.created_at
        yield event
      }
    } catch (thrown) {
      throwIfAborted(signal)
      const error = readFailure(thrown, url)
      if (state === 'new' || !isPassing(error)) throw error
      if (state === 'connected') onOutage?.(error)
      state = 'interrupted'
    }
    await delay(pause, undefined, { signal }).catch(() => throwIfAborted(signal))
    pause = Math.min(2 * pause, MAX_PAUSE_MS)
  }
}

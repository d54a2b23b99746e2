import { AuditLogError } from '../../errors.js'
import { checkAccept } from '../media.js'
import type { EventsHandler } from './handler.js'
import { type KeepAliveTimer, type Rendering } from './keep-alive.js'
import { whileAllowed } from './recheck.js'
import type { Frame } from './source.js'
import { COMMENT, EVENT_STREAM, STREAM_HEADERS } from './server-sent.js'

// HEAD requests only the headers.
async function* emptyBody(): AsyncGenerator<Frame, void, void> {}

/** Ends normally when the log is closed or fails; the client then reconnects. */
export async function* untilLogFails<Item>(
  items: AsyncIterable<Item>,
): AsyncGenerator<Item, void, void> {
  try {
    for await (const item of items) yield item
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
  }
}

/** Sends frames as they are. */
export const renderingOfFrames = (timer: KeepAliveTimer): Rendering<Frame, Frame> => ({
  comment: COMMENT,
  timer,
  chunkOf: (frame) => frame,
  isEnd: () => false,
})

/**
 * `GET <path>/stream`: events as they become visible, as server-sent events. Every `recheckMs` milliseconds the host is asked
 * whether the stream may go on.
 */
export const streamHandler =
  (recheckMs: number): EventsHandler =>
  async ({ request, source, reportRead, mayContinue }) => {
    checkAccept(request.header('accept'), EVENT_STREAM)
    const open = source().stream(request, reportRead)
    if (request.method === 'HEAD')
      return { status: 200, headers: STREAM_HEADERS, body: emptyBody() }
    const { signal } = request
    const body = mayContinue
      ? await whileAllowed(open, { mayContinue, periodMs: recheckMs, signal })
      : await open(signal)
    return { status: 200, headers: STREAM_HEADERS, body }
  }

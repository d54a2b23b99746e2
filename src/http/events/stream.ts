import { AuditLogError } from '../../errors.js'
import { bothOf, MAX_LIMIT } from '../../filter/ast.js'
import { newestCursor, startCursor } from '../../tail/poll.js'
import type { Chunk } from '../stream/chunks.js'
import type { HttpStream } from '../exchange.js'
import { checkAccept } from '../media.js'
import {
  type EventsCall,
  type EventsHandler,
  reportNothing,
  type StreamingHandlerOptions,
} from './handler.js'
import {
  createKeepAliveTimer,
  type KeepAliveTimer,
  KeptAlive,
  type Rendering,
} from './keep-alive.js'
import { whileAllowed } from './recheck.js'
import {
  changeFrame,
  COMMENT,
  EVENT_STREAM,
  eventFrame,
  RETRY,
  STREAM_HEADERS,
} from './server-sent.js'
import { readStreamRequest, type StreamRequest } from './stream-request.js'
import { createStreamView } from './stream-view.js'

/** Shorter than the usual idle timeouts of proxies. */
const KEEP_ALIVE_MS = 15_000

type Frame = string | Uint8Array
type Frames = AsyncIterableIterator<Frame, void, void>

/** Ends normally when the log is closed or fails; the client then reconnects. */
async function* untilLogFails<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item, void, void> {
  try {
    for await (const item of items) yield item
  } catch (error) {
    if (!(error instanceof AuditLogError)) throw error
  }
}

// HEAD requests only the headers.
async function* emptyBody(): HttpStream & Frames {}

interface Renderings {
  readonly ofChanges: Rendering<Frame, Frame>
  readonly ofEvents: (reportRead: EventsCall['reportRead']) => Rendering<Chunk, Frame>
  /** Of events that are not reported to the host. */
  readonly ofUnreported: Rendering<Chunk, Frame>
}

function createRenderings(timer: KeepAliveTimer): Renderings {
  const common = { comment: COMMENT, timer }
  const ofEvents: Renderings['ofEvents'] = (reportRead) => ({
    ...common,
    first: RETRY,
    chunkOf({ events, bytes }) {
      const reported = reportRead(events)
      return reported ? reported.then(() => bytes) : bytes
    },
    // The log is closed or has failed; the client then reconnects.
    isEnd: (error) => error instanceof AuditLogError,
  })
  return {
    ofChanges: { ...common, chunkOf: (frame) => frame, isEnd: () => false },
    ofEvents,
    ofUnreported: ofEvents(reportNothing),
  }
}

/** A stream with changes, at its start. */
interface Started {
  /** The `created_at` of the newest event before. */
  readonly start: string
  /** The ids of the live events that were open. */
  readonly open: readonly string[]
}

export interface StreamHandlerOptions extends StreamingHandlerOptions {
  /** How often the host is asked again whether the stream may go on, in milliseconds. */
  readonly recheckMs: number
}

/** `GET <path>/stream`: events as they become visible, as server-sent events. */
export function streamHandler(
  { audit, path, broadcast, recheckMs }: StreamHandlerOptions,
  keepAlive = createKeepAliveTimer(KEEP_ALIVE_MS),
): EventsHandler {
  const { ofChanges, ofEvents, ofUnreported } = createRenderings(keepAlive)
  const isLive = Object.values(audit.types).some(({ live }) => live === true)

  /** The tail tracks the state of each live event for this reader. */
  async function* changeFrames(
    { where, fields }: StreamRequest,
    { start, open }: Started,
    { visible, reportRead }: EventsCall,
    signal: AbortSignal,
  ): AsyncGenerator<Frame, void, void> {
    yield RETRY
    /** Ids of events before the start that were reported as read, because their changes were sent. */
    const reported = new Set<string>()
    const query = { where, sorts: [], limit: MAX_LIMIT }
    const items = audit.tail(query, { after: start, changes: true, open, visible, signal })
    for await (const item of untilLogFails(items)) {
      if (!('patch' in item)) {
        await reportRead([item])
        yield eventFrame(item, path, fields)
        continue
      }
      if (item.created_at <= start && !reported.has(item.id)) {
        reported.add(item.id)
        const event = await audit.get(item.id, { signal })
        if (event) await reportRead([event])
      }
      yield changeFrame(item)
    }
  }

  const open = async (
    wanted: StreamRequest,
    call: EventsCall,
    signal: AbortSignal,
  ): Promise<Frames> => {
    const { where, fields, after } = wanted
    // Before the headers are sent, so that the client gets every event recorded after it received them.
    const { consistencyToken } = call.reading
    const options = { signal, consistencyToken }
    const isKnown = after !== undefined || (!wanted.changes && consistencyToken === undefined)
    const start = isKnown ? after : await startCursor(newestCursor(audit, options), options)
    if (wanted.changes) {
      // The client that has received the headers may read that an event is open, and rely on hearing of its close.
      const known = isLive ? await audit.store.openEvents(options) : []
      const started = { start: start!, open: known.map(({ id }) => id) }
      return new KeptAlive(changeFrames(wanted, started, call, signal), ofChanges)
    }
    const view = createStreamView(where, path, fields)
    const chunks = await broadcast.read(view, { after: start, signal })
    const { reportRead } = call
    const isReported = reportRead !== reportNothing
    return new KeptAlive(chunks, isReported ? ofEvents(reportRead) : ofUnreported)
  }

  return async (call) => {
    const { request, visible } = call
    checkAccept(request.header('accept'), EVENT_STREAM)
    const requested = readStreamRequest(request)
    const wanted = { ...requested, where: bothOf(visible, requested.where) }
    if (request.method === 'HEAD')
      return { status: 200, headers: STREAM_HEADERS, body: emptyBody() }
    const { mayContinue } = call
    const { signal } = request
    const openFrames = (signal: AbortSignal): Promise<Frames> => open(wanted, call, signal)
    const body = mayContinue
      ? await whileAllowed(openFrames, { mayContinue, periodMs: recheckMs, signal })
      : await openFrames(signal)
    return { status: 200, headers: STREAM_HEADERS, body }
  }
}

import { AuditLogError } from '../../errors.js'
import { ofOneLog } from '../../event/event-of-log.js'
import { bothOf, type Grouping, MAX_LIMIT } from '../../filter/ast.js'
import { newestCursor, startCursor } from '../../tail/poll.js'
import type { HttpRequest } from '../exchange.js'
import type { Broadcast } from '../stream/broadcast.js'
import type { Chunk } from '../stream/chunks.js'
import type { Concealment } from '../../filter/conceal.js'
import { type HandlerOptions, reportNothing } from './handler.js'
import { createKeepAliveTimer, KeptAlive, type Rendering } from './keep-alive.js'
import { changeFrame, eventFrame, RETRY } from './server-sent.js'
import { sealedAtOnce } from '../../privacy/opening.js'
import type { Frame, OpenStream, ReportRead } from './source.js'
import { renderingOfFrames, untilLogFails } from './stream.js'
import { LAST_EVENT_ID, readStreamRequest, type StreamRequest } from './stream-request.js'
import { createStreamView } from './stream-view.js'

/** A stream with changes, at its start. */
interface Started {
  /** The `created_at` of the newest event before. */
  readonly start: string
  /** The ids of the live events that were open. */
  readonly open: readonly string[]
  readonly signal: AbortSignal
}

export interface LogStreamsOptions extends HandlerOptions {
  readonly broadcast: Broadcast
}

interface StreamCall {
  /** The filter of the request, on events as the user sees them. */
  readonly shown: Grouping | undefined
  readonly request: HttpRequest
  readonly visible: Grouping | undefined
  readonly concealed: Concealment | undefined
  readonly consistencyToken: string | undefined
  readonly reportRead: ReportRead
}

/** `limit` is read here to be refused. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['after', 'changes', 'limit'])

/** The tail tracks the state of each live event for this reader. */
async function* changeFrames(
  { audit, path }: HandlerOptions,
  { fields }: StreamRequest,
  { shown, visible, concealed, reportRead }: StreamCall,
  { start, open, signal }: Started,
): AsyncGenerator<Frame, void, void> {
  yield RETRY
  /** Ids of events before the start that were reported as read, because their changes were sent. */
  const reported = new Set<string>()
  const query = { where: shown, sorts: [], limit: MAX_LIMIT }
  const conceal = concealed?.names
  const personal = 'sealed'
  const items = audit.tail(query, {
    after: start,
    changes: true,
    open,
    visible,
    conceal,
    personal,
    signal,
  })
  for await (const item of untilLogFails(items)) {
    if (!('patch' in item)) {
      await reportRead(ofOneLog([item]))
      yield eventFrame(item, path, fields)
      continue
    }
    if (item.created_at <= start && !reported.has(item.id)) {
      reported.add(item.id)
      const event = await audit.get(item.id, { personal, signal })
      if (event) await reportRead(ofOneLog([event]))
    }
    yield changeFrame(item)
  }
}

/** The streams of one log. */
export function createLogStreams({
  audit,
  path,
  broadcast,
}: LogStreamsOptions): (call: Omit<StreamCall, 'shown'>, known: string) => OpenStream {
  const timer = createKeepAliveTimer()
  const ofFrames = renderingOfFrames(timer)
  const unreported: Rendering<Chunk, Frame> = {
    first: RETRY,
    comment: ofFrames.comment,
    timer,
    chunkOf: ({ bytes }) => bytes,
    // The log is closed or has failed; the client then reconnects.
    isEnd: (error) => error instanceof AuditLogError,
  }
  const reported = (reportRead: ReportRead): Rendering<Chunk, Frame> => ({
    ...unreported,
    async chunkOf({ events, bytes }) {
      await reportRead(ofOneLog(events.map(sealedAtOnce)))
      return bytes
    },
  })
  const isLive = Object.values(audit.types).some(({ live }) => live === true)

  const open = async (
    wanted: StreamRequest,
    call: StreamCall,
    signal: AbortSignal,
  ): ReturnType<OpenStream> => {
    const { where, fields, after } = wanted
    // Before the headers are sent, so that the client gets every event recorded after it received them.
    const { consistencyToken, reportRead } = call
    const options = { signal, consistencyToken }
    const isKnown = after !== undefined || (!wanted.changes && consistencyToken === undefined)
    const start = isKnown ? after : await startCursor(newestCursor(audit, options), options)
    if (wanted.changes) {
      // The client that has received the headers may read that an event is open, and rely on hearing of its close.
      const known = isLive ? await audit.store.openEvents(options) : []
      const started = { start: start!, open: known.map(({ id }) => id), signal }
      return new KeptAlive(changeFrames({ audit, path }, wanted, call, started), ofFrames)
    }
    const view = createStreamView(where, path, { fields, concealed: call.concealed })
    const chunks = await broadcast.read(view, { after: start, signal })
    return new KeptAlive(chunks, reportRead === reportNothing ? unreported : reported(reportRead))
  }

  return (call, known) => {
    const { request } = call
    const { query } = request
    const lastEventId = request.header(LAST_EVENT_ID)
    const requested = readStreamRequest({ query, lastEventId, own: OWN_PARAMETERS, known })
    const shown = call.concealed ? call.concealed.where(requested.where) : requested.where
    audit.sealedNames.checkWhere(requested.where)
    const wanted = { ...requested, where: bothOf(call.visible, shown) }
    return (signal) => open(wanted, { ...call, shown }, signal)
  }
}

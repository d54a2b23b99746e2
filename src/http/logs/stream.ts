import { AuditLogError } from '../../errors.js'
import type { LogEvent } from '../../logs/named-logs.js'
import type { OpenLogsTail } from '../../logs/tail-across.js'
import { extractFieldset, FIELDS } from '../events/fieldset.js'
import { createKeepAliveTimer, KeptAlive, type Rendering } from '../events/keep-alive.js'
import { parseEventsQuery } from '../events/query.js'
import { whileAllowed } from '../events/recheck.js'
import { COMMENT, EVENT_STREAM, RETRY, STREAM_HEADERS } from '../events/server-sent.js'
import type { HttpStream } from '../exchange.js'
import { checkAccept } from '../media.js'
import { invalidParameter } from '../parameters.js'
import { HttpProblem } from '../problem.js'
import type { LogsCall, LogsHandler, LogsHandlerOptions } from './call.js'
import { reportAll, resourceOf, visibleOf } from './handlers.js'
import { readAfter, readCursor, readLogs } from './requests.js'

const KEEP_ALIVE_MS = 15_000

type Frames = AsyncGenerator<string, void, void>

// HEAD requests only the headers.
async function* emptyBody(): HttpStream & Frames {}

interface Following {
  readonly tail: OpenLogsTail
  readonly render: (event: LogEvent) => string
  readonly call: LogsCall
}

/** Ends normally when the logs are closed or fail; the client then reconnects. */
async function* framesOf({ tail, render, call }: Following): Frames {
  // A message without data is not dispatched, but sets the id with which the client reconnects.
  yield `${RETRY}id: ${tail.cursor()}\n\n`
  let isReporting = false
  try {
    for await (const events of tail.batches) {
      isReporting = true
      await reportAll(call, events)
      isReporting = false
      for (const event of events) {
        tail.received(event)
        yield `id: ${tail.cursor()}\ndata: {"data":${render(event)}}\n\n`
      }
    }
  } catch (error) {
    if (isReporting || !(error instanceof AuditLogError)) throw error
  }
}

const LAST_EVENT_ID = 'last-event-id'

function invalidId(error: unknown): unknown {
  const isCursor = error instanceof AuditLogError && error.parameter === 'cursor'
  if (!isCursor) return error
  const message = `${LAST_EVENT_ID} must be the id of a message of this stream`
  return new HttpProblem('INVALID_HEADER', message, { header: LAST_EVENT_ID })
}

/** `GET <path>/events/stream`: events of several logs as they become visible, as server-sent events. */
export function streamHandler(options: LogsHandlerOptions): LogsHandler {
  const { logs, recheckMs } = options
  const rendering: Rendering<string, string> = {
    comment: COMMENT,
    timer: createKeepAliveTimer(KEEP_ALIVE_MS),
    chunkOf: (frame) => frame,
    isEnd: () => false,
  }
  return async (call) => {
    const { request, allow, mayContinue } = call
    checkAccept(request.header('accept'), EVENT_STREAM)
    const { logs: named, rest } = readLogs(request.query)
    const { cursor, rest: filters } = readCursor(rest)
    const { after, rest: others } = readAfter(filters)
    const { fields, rest: unnamed } = extractFieldset(others)
    const query = parseEventsQuery(unnamed, `logs[], filter, q, cursor, after and ${FIELDS}`)
    if (query.sorts.length > 0)
      throw invalidParameter('filter[sorts]', 'is not allowed: a stream is ordered by created_at')
    const filtersOfLogs = await allow(named)
    if (request.method === 'HEAD')
      return { status: 200, headers: STREAM_HEADERS, body: emptyBody() }
    const lastEventId = request.header(LAST_EVENT_ID)
    const open = async (signal: AbortSignal): Promise<KeptAlive<string, string>> => {
      const tail = await logs
        .follow(query, {
          logs: named,
          visible: visibleOf(filtersOfLogs),
          cursor: lastEventId || cursor,
          after,
          signal,
        })
        .catch((error: unknown) => {
          throw lastEventId ? invalidId(error) : error
        })
      const frames = framesOf({
        tail,
        render: (event) => resourceOf(options, event, { fields }),
        call,
      })
      return new KeptAlive(frames, rendering)
    }
    const { signal } = request
    const body = mayContinue
      ? await whileAllowed(open, {
          mayContinue: () => mayContinue(named, filtersOfLogs),
          periodMs: recheckMs,
          signal,
        })
      : await open(signal)
    return { status: 200, headers: STREAM_HEADERS, body }
  }
}

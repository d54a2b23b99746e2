import type { AuditLogs } from '../../audit-logs.js'
import { AuditLogError } from '../../errors.js'
import type { EventOfLog } from '../../event/event-of-log.js'
import type { Concealment } from '../../filter/conceal.js'
import { MAX_LIMIT } from '../../filter/ast.js'
import type { LogsOptions } from '../../logs/named-logs.js'
import type { OpenLogsTail } from '../../logs/tail-across.js'
import { eventResource } from '../events/documents.js'
import { createKeepAliveTimer, KeptAlive } from '../events/keep-alive.js'
import { resourceFrame, RETRY } from '../events/server-sent.js'
import type { OpenStream, ReportRead } from '../events/source.js'
import { renderingOfFrames, untilLogFails } from '../events/stream.js'
import { LAST_EVENT_ID, readStreamRequest } from '../events/stream-request.js'
import type { HttpRequest } from '../exchange.js'
import { HttpProblem } from '../problem.js'
import { pathOfLog } from './requests.js'

interface StreamCall {
  readonly request: HttpRequest
  readonly named: LogsOptions
  readonly concealed: Concealment | undefined
  readonly cursor: string | undefined
  readonly reportRead: ReportRead
}

interface Following {
  readonly tail: OpenLogsTail
  readonly render: (item: EventOfLog) => string
  readonly reportRead: ReportRead
}

async function* framesOf({
  tail,
  render,
  reportRead,
}: Following): AsyncGenerator<string, void, void> {
  // A message without data is not dispatched, but sets the id with which the client reconnects.
  yield `${RETRY}id: ${tail.cursor()}\n\n`
  for await (const events of untilLogFails(tail.batches)) {
    await reportRead(events)
    for (const event of events) {
      tail.received(event)
      yield resourceFrame(tail.cursor(), render(event))
    }
  }
}

function invalidId(error: unknown): unknown {
  const isCursor = error instanceof AuditLogError && error.parameter === 'cursor'
  if (!isCursor) return error
  const message = `${LAST_EVENT_ID} must be the id of a message of this stream`
  return new HttpProblem('INVALID_HEADER', message, { header: LAST_EVENT_ID })
}

const OWN_PARAMETERS: ReadonlySet<string> = new Set(['after', 'changes'])

/** The streams of several logs. The `id` of each message is a cursor. Changes of live events are not sent. */
export function createLogsStreams(
  logs: Pick<AuditLogs, 'follow'>,
  path: string,
): (call: StreamCall, known: string) => OpenStream {
  const rendering = renderingOfFrames(createKeepAliveTimer())
  return ({ request, named, concealed, cursor, reportRead }, known) => {
    const sent = { query: request.query, lastEventId: '', own: OWN_PARAMETERS, known }
    const { where, fields, after } = readStreamRequest(sent)
    const shown = concealed ? concealed.where(where) : where
    const query = { where: shown, sorts: [], limit: MAX_LIMIT }
    const lastEventId = request.header(LAST_EVENT_ID)
    return async (signal) => {
      const tail = await logs
        .follow(query, { ...named, cursor: lastEventId || cursor, after, signal })
        .catch((error: unknown) => {
          throw lastEventId === '' ? error : invalidId(error)
        })
      const render = ({ event, log }: EventOfLog): string => {
        const item = { log, event: concealed ? concealed.event(event) : event }
        return eventResource(item, pathOfLog(path, log!), { fields })
      }
      return new KeptAlive(framesOf({ tail, render, reportRead }), rendering)
    }
  }
}

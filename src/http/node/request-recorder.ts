import type { ServerResponse } from 'node:http'
import { closeWithConnection } from '../node-request.js'
import { errorResponse } from '../problem.js'
import { beforeEnd } from '../record/before-end.js'
import { arrivalOf, type Begun, requestRecorder } from '../record/recorder.js'
import type { RecordingAudit, RequestRecorderOptions } from '../record/recorder-options.js'
import { sendResponse } from './exchange.js'
import { type NodeHost, RecordedNodeExchange, type SentRequest } from './recorded-exchange.js'
import { thrownOf } from './thrown.js'

/** Middleware that records requests, for any framework on `node:http`. */
export function nodeRecorder<Request extends SentRequest>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Request>,
  host: NodeHost<Request>,
): (request: Request, response: ServerResponse, next: () => void) => void {
  const recorder = requestRecorder(audit, options)
  return function recordRequests(request, response, next) {
    const exchange = new RecordedNodeExchange(request, response, host, options)
    const arrival = arrivalOf(exchange)
    // Otherwise a pipelined response may never emit `close` nor be recorded as `aborted`.
    closeWithConnection(response)
    const handle = (begun: Begun): void => {
      beforeEnd(response, (isAnswered, chunk) => {
        exchange.end(chunk)
        const thrown = thrownOf(request)
        return recorder.end(exchange, begun, { isAnswered, ...(thrown && { thrown }) })
      })
      recorder.handle(exchange, begun, () => next())
    }
    if (!recorder.needsIntent(exchange)) return handle(arrival)
    const refuse = (error: unknown): void => {
      void sendResponse({ request, response }, errorResponse(error))
      // The request counts as lost if it cannot be recorded.
      void recorder.end(exchange, arrival, {})
    }
    void recorder.open(exchange, arrival).then((intent) => handle({ ...arrival, intent }), refuse)
  }
}

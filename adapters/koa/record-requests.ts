import { closeWithConnection } from '../../src/http/node-request.js'
import { errorResponse } from '../../src/http/problem.js'
import { beforeEnd } from '../../src/http/record/before-end.js'
import type { RequestUser } from '../../src/http/record/exchange.js'
import { type Ending, readReason } from '../../src/http/record/reason.js'
import {
  arrivalOf,
  type Begun,
  type RecordingAudit,
  REQUEST_RECORDER_OPTIONS,
  requestRecorder,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder.js'
import { sendResponse, type UsernameOption } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'
import { KoaExchange } from './recorded-exchange.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends UsernameOption<RequestUser>, RequestRecorderOptions<RoutedContext> {}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  username: true,
}

/** The response has not begun, and the client is still there. */
const isPending = ({ res }: RoutedContext): boolean => !res.headersSent && !res.destroyed

/** A handler that bypasses Koa may return before it sends the response. */
const respondsLater = (ctx: RoutedContext): boolean => ctx.respond === false && isPending(ctx)

/** Koa never responds to these, so the event does not wait for a response. */
const isUnanswerable = (thrown: unknown): boolean => thrown === null || thrown === undefined

/**
 * Koa middleware that records requests. Mount it before all middleware whose requests it should record:
 *
 * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
 * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
 * - any request with a 5xx response or a thrown error: `error:api:controller:unhandled`.
 *
 * Refusals and failures without a user, and any 401 and 429, are recorded once a minute for each address, type and
 * status; the next of these events has the number of the others in `suppressed_count`.
 *
 * Controller and method come from `routes`, or from the route that @koa/router matched: its name, or
 * its path by the conventions of Rails. The event of a success is durable before the response is sent.
 * The event of a failure has the status that was sent, even if middleware outside of this one chose it,
 * and is durable before the response ends. If an event cannot be recorded, the log emits `rejected`,
 * and the response is still sent. The response is never changed. Events recorded during the request get
 * its user: see `withActor`.
 *
 * Throws `INVALID_OPTION` for invalid options.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): KoaMiddleware {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  const recorder = requestRecorder(audit, options)

  const recordAtEnd = (exchange: KoaExchange, begun: Begun, ending: Ending): void =>
    beforeEnd(exchange.context.res, (isAnswered) =>
      recorder.end(exchange, begun, { ...ending, isAnswered }),
    )

  return async function recordRequests(ctx: RoutedContext, next) {
    const exchange = new KoaExchange(ctx, options)
    const arrival = arrivalOf(exchange)
    // Otherwise a pipelined response may never emit `close` nor be recorded as `aborted`.
    closeWithConnection(ctx.res)
    let begun: Begun = arrival
    if (recorder.needsIntent(exchange)) {
      try {
        begun = { ...arrival, intent: await recorder.open(exchange, arrival) }
      } catch (error) {
        // The request counts as lost if it cannot be recorded.
        sendResponse(ctx, errorResponse(error))
        void recorder.end(exchange, arrival, {})
        return
      }
    }
    try {
      await recorder.handle(exchange, arrival, next)
    } catch (error) {
      const ending: Ending = { thrown: { value: error } }
      if (isPending(ctx) && !isUnanswerable(error)) recordAtEnd(exchange, begun, ending)
      else await recorder.end(exchange, begun, ending)
      throw error
    }
    if (respondsLater(ctx)) recordAtEnd(exchange, begun, {})
    else if (isPending(ctx) && ctx.res.statusCode >= 400)
      recordAtEnd(exchange, begun, { reason: readReason(exchange) })
    else await recorder.end(exchange, begun, {})
  }
}

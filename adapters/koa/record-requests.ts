import { closeWithConnection } from '../../src/http/node-request.js'
import { errorResponse } from '../../src/http/problem.js'
import { beforeEnd } from '../../src/http/record/before-end.js'
import { type Ending, readReason } from '../../src/http/record/reason.js'
import { arrivalOf, type Begun, requestRecorder } from '../../src/http/record/recorder.js'
import {
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder-options.js'
import { sendResponse } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'
import { KoaExchange } from './recorded-exchange.js'
import { checkOptions } from '../../src/options.js'

export type RecordRequestsOptions = RequestRecorderOptions<RoutedContext>

/** The response has not begun, and the client is still there. */
const isPending = ({ res }: RoutedContext): boolean => !res.headersSent && !res.destroyed

/** A handler that bypasses Koa may return before it sends the response. */
const respondsLater = (ctx: RoutedContext): boolean => ctx.respond === false && isPending(ctx)

/** Koa never responds to these, so the event does not wait for a response. */
const isUnanswerable = (thrown: unknown): boolean => thrown === null || thrown === undefined

/**
 * Koa middleware that records requests. The route is the one that `@koa/router` matched: its name, or its path. The event of a success
 * is durable before the response is sent. The event of a failure has the status that was sent, even if middleware outside of this
 * one chose it. The address is `ctx.ip`.
 */
export const recordRequests: RecordRequests<RecordRequestsOptions, KoaMiddleware> = (
  audit,
  options = {},
) => {
  checkOptions(options, REQUEST_RECORDER_OPTIONS, 'recordRequests')
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

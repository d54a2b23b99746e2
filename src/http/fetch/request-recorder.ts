import { errorResponse } from '../problem.js'
import type { Ending } from '../record/reason.js'
import { arrivalOf, type Begun, requestRecorder } from '../record/recorder.js'
import type { RecordingAudit, RequestRecorderOptions } from '../record/recorder-options.js'
import { isOwnRequest } from '../record/own-request.js'
import { isMutating, isRefused } from '../record/route-type.js'
import { toResponse } from './exchange.js'
import type { RecordedFetchExchange } from './recorded-exchange.js'
import { isShown } from '../record/reads.js'
import { MAX_LIST_BYTES } from '../record/response-text.js'
import { responseText } from './response-text.js'

/** Result of a handler. */
export interface Handled {
  /** Undefined if the handler has taken over the connection. */
  readonly response: Response | undefined
  /** An error that the framework has answered. */
  readonly thrown?: Ending['thrown']
}

/** Runs the handler of a request, and records the request before it returns the response. */
export type RecordExchange<Context extends object> = (
  exchange: RecordedFetchExchange<Context>,
  handle: () => Promise<Handled>,
) => Promise<Response | undefined>

const SWITCHING_PROTOCOLS = 101

/** Records requests of any framework with fetch handlers. Throws `INVALID_OPTION` for invalid options. */
export function fetchRecorder<Context extends object>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Context>,
): RecordExchange<Context> {
  const recorder = requestRecorder(audit, options)
  // Reading a response clones it.
  const isDescribed = (options.describe?.length ?? 0) > 1

  const isRefusal = (exchange: RecordedFetchExchange<Context>, status: number): boolean =>
    isRefused(status) ||
    ((status >= 500 || (status >= 400 && isMutating(exchange.method))) && !isOwnRequest(exchange))

  /** The text of the response if its event needs it. */
  const textOf = async (
    exchange: RecordedFetchExchange<Context>,
    response: Response,
  ): Promise<string | undefined> => {
    if (isShown(response.status) && recorder.readsList(exchange))
      return responseText(response, MAX_LIST_BYTES)
    const isRead =
      isRefusal(exchange, response.status) || (isDescribed && recorder.isRecorded(exchange))
    return isRead ? responseText(response) : undefined
  }

  const end = async (
    exchange: RecordedFetchExchange<Context>,
    begun: Begun,
    { response, thrown }: Handled,
  ): Promise<void> => {
    const status = response?.status ?? SWITCHING_PROTOCOLS
    const sent = isMutating(exchange.method) ? await exchange.readBody() : undefined
    exchange.end({ status, sent })
    if (response && !thrown) exchange.responseBody = await textOf(exchange, response)
    await recorder.end(exchange, begun, {
      isAnswered: response !== undefined,
      ...(thrown && { thrown }),
    })
  }

  return async function record(exchange, handle) {
    const arrival = arrivalOf(exchange)
    let begun: Begun = arrival
    if (recorder.needsIntent(exchange)) {
      try {
        begun = { ...arrival, intent: await recorder.open(exchange, arrival) }
      } catch (error) {
        const refusal = toResponse(exchange.request, errorResponse(error))
        // The request counts as lost if it cannot be recorded.
        void end(exchange, arrival, { response: refusal })
        return refusal
      }
    }
    let handled: Handled
    try {
      handled = await recorder.handle(exchange, begun, handle)
    } catch (error) {
      await end(exchange, begun, { response: undefined, thrown: { value: error } })
      throw error
    }
    await end(exchange, begun, handled)
    return handled.response
  }
}

import { fetchRecorder } from '../../src/http/fetch/request-recorder.js'
import type { RequestUser } from '../../src/http/record/exchange.js'
import { noPromise } from '../../src/http/record/no-promise.js'
import {
  type RecordingAudit,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder.js'
import { type AddressOption, addressOf } from './address.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchHandler, FetchRequest } from './fetch.js'
import { PlainExchange } from './recorded-exchange.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends
    UsernameOption<FetchRequest, RequestUser>,
    AddressOption,
    RequestRecorderOptions<FetchRequest> {
  /**
   * The path of the route that handles a request, with its parameters: `/orders/:id`. The event is named after it.
   * Called before the request is handled if it is `required`, and when its handler has returned.
   * @default the path that was given with the handler; without one the event is named `unmatched:<verb>`
   */
  route?(request: FetchRequest): string | undefined
}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  username: true,
  address: true,
  route: true,
}

/** Returns the handler with its requests recorded. `route` is the path that it handles, such as `/orders/:id`. */
export type RecordHandler = <
  Passed extends readonly unknown[],
  Result extends Response | undefined,
>(
  handler: FetchHandler<Passed, Result>,
  route?: string,
) => (request: Request, ...passed: Passed) => Promise<Result | Response>

/**
 * Records the requests of fetch handlers: `recordRequests(audit)(handler)`. It records
 *
 * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
 * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
 * - any request with a 5xx response or a thrown error: `error:api:controller:unhandled`.
 *
 * Refusals and failures without a user, and any 401 and 429, are recorded once a minute for each address, type and
 * status; the next of these events has the number of the others in `suppressed_count`.
 *
 * Controller and method come from `routes`, or from the path of the route by the conventions of Rails. The body is
 * what `json()`, `text()` or `formData()` of the request has returned to the handler.
 *
 * The event is durable before the response is returned to the server, thus before the first part of a stream. If an
 * event cannot be recorded, the log emits `rejected`, and the response is still returned. Errors of the handler are
 * recorded and thrown again. Events recorded during the request get its user: see `withActor`.
 *
 * Throws `INVALID_OPTION` for invalid options.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): RecordHandler {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  const record = fetchRecorder<FetchRequest>(audit, options)
  return function recordRequests<
    Passed extends readonly unknown[],
    Result extends Response | undefined,
  >(handler: FetchHandler<Passed, Result>, route?: string) {
    return async (request: Request, ...passed: Passed): Promise<Result | Response> => {
      const exchange = new PlainExchange(request, {
        address: () => addressOf(options, request, passed),
        username: () => usernameOf(request, options),
        route: () => noPromise(options.route?.(request)) ?? route,
      })
      const response = await record(exchange, async () => ({
        response: await handler(request, ...passed),
      }))
      return response as Result | Response
    }
  }
}

import { ADDRESS_OPTION } from '../../src/http/fetch/address.js'
import { PlainExchange } from '../../src/http/fetch/plain-exchange.js'
import { fetchRecorder } from '../../src/http/fetch/request-recorder.js'
import { readTarget } from '../../src/http/node-request.js'
import { noPromise } from '../../src/http/record/no-promise.js'
import {
  type RecordRequests,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder-options.js'
import { usernameOf } from '../../src/http/username-option.js'
import {
  addressOf,
  type FetchAddressOption,
  type FetchHandler,
  type FetchRequest,
} from './fetch.js'
import { pathParameters } from './path-parameters.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends FetchAddressOption, RequestRecorderOptions<FetchRequest> {
  /**
   * The path of the route that handles a request, with its parameters: `/orders/:id`. The event is named after it.
   * Called before the request is handled if it is `required`, and when its handler has returned.
   * @default the path that was given with the handler; without one the event is named `unmatched:<verb>`
   */
  route?(request: FetchRequest): string | undefined
}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  ...ADDRESS_OPTION,
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
 * Records the requests of fetch handlers: `recordRequests(audit)(handler)`. The body is what `json()`, `text()` or `formData()` of
 * the request has returned to the handler. Errors of the handler are recorded and thrown again. The event is durable before the
 * first part of a stream.
 */
export const recordRequests: RecordRequests<RecordRequestsOptions, RecordHandler> = (
  audit,
  options = {},
) => {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  const record = fetchRecorder<FetchRequest>(audit, options)
  return function recordRequests<
    Passed extends readonly unknown[],
    Result extends Response | undefined,
  >(handler: FetchHandler<Passed, Result>, route?: string) {
    return async (request: Request, ...passed: Passed): Promise<Result | Response> => {
      const exchange = new PlainExchange<FetchRequest>(request, request, {
        address: () => addressOf(options, request, passed),
        username: () => usernameOf(request, options),
        route: () => {
          const path = noPromise(options.route?.(request)) ?? route
          return path === undefined
            ? undefined
            : { path, params: pathParameters(path, readTarget(request.url).path) }
        },
      })
      const response = await record(exchange, async () => ({
        response: await handler(request, ...passed),
      }))
      return response as Result | Response
    }
  }
}

import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { NodeMiddleware } from '../../src/http/node/node.js'
import { nodeRecorder } from '../../src/http/node/request-recorder.js'
import type { RequestUser } from '../../src/http/record/exchange.js'
import {
  type RecordingAudit,
  REQUEST_RECORDER_OPTIONS,
  type RequestRecorderOptions,
} from '../../src/http/record/recorder.js'
import type { ExpressRequest } from './express.js'
import { followRouterErrors } from './router-errors.js'
import { handlingRoute } from './routes.js'
import { checkOptions, type OptionNames } from '../../src/options.js'

export interface RecordRequestsOptions
  extends UsernameOption<ExpressRequest, RequestUser>, RequestRecorderOptions<ExpressRequest> {}

const RECORD_OPTIONS: OptionNames<RecordRequestsOptions> = {
  ...REQUEST_RECORDER_OPTIONS,
  username: true,
}

/**
 * Middleware of Express that records requests. Mount it before all middleware whose requests it should
 * record:
 *
 * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
 * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
 * - any request with a 5xx response: `error:api:controller:unhandled`.
 *
 * Refusals and failures without a user, and any 401 and 429, are recorded once a minute for each address, type and
 * status; the next of these events has the number of the others in `suppressed_count`.
 *
 * Controller and method come from `routes`, or from the path of the route by the conventions of Rails,
 * including the paths of its routers. Errors that handlers throw or pass to `next` are recorded with their
 * message and backtrace. The address is `request.ip`: set `trust proxy` behind a proxy.
 *
 * The event is durable before the response ends, and it has the status of the response. If an event
 * cannot be recorded, the log emits `rejected`, and the response is still sent. The response is never changed.
 * Events recorded during the request get its user: see `withActor`.
 *
 * Throws `INVALID_OPTION` for invalid options.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): NodeMiddleware {
  checkOptions(options, RECORD_OPTIONS, 'recordRequests')
  followRouterErrors()
  return nodeRecorder<ExpressRequest>(audit, options, {
    username: (request) => usernameOf(request, options),
    address: (request) => request.ip ?? '',
    route: handlingRoute,
  })
}

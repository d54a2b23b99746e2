import type { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import type { OptionNames } from '../../options.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'
import type { RequestUser } from './exchange.js'
import type { RecordedResponse } from './reason.js'
import { type Data, REQUEST_DATA_OPTIONS, type RequestDataOptions } from './request-data.js'
import type { RouteTypes } from './route-type.js'

export interface RequestRecorderOptions<Context>
  extends RequestDataOptions, UsernameOption<Context, RequestUser> {
  /**
   * Returns additional data for the event of a request: `name`, `parent`, link attributes. Called when the
   * response is known, for requests that are recorded. The response has the status and the body, so that a failure
   * whose status is 200, as of GraphQL, can be given an `error`.
   */
  describe?(request: Context, response: RecordedResponse): Data | undefined
  /** Event types of some routes, or false for routes that are not recorded. */
  readonly routes?: RouteTypes
  /**
   * Routes whose successful `GET` requests are recorded, as `['/orders/:id']`, with `access: 'read'`. Further reads of one resource by
   * one user within an hour are counted, and become one event.
   * @default none
   */
  readonly reads?: readonly string[]
  /**
   * `all` records each refusal. `limited` records the first of each kind in a minute, and one event with the count of the others.
   * @default 'limited'
   */
  readonly refusals?: 'limited' | 'all'
  /**
   * The id of the request in other logs, or undefined.
   * @default the header `x-request-id` if it has 1 to 200 visible ASCII characters
   */
  requestId?(request: Context): string | undefined
  /**
   * Handles a mutating request only once the store has its intent. If it has not, the response is 503 and the
   * handler does not run. The request leaves exactly one event, even if the process ends before the response.
   * Costs one more commit of the store for each group of requests.
   * @default false
   */
  readonly required?: boolean
}

export const REQUEST_RECORDER_OPTIONS: OptionNames<RequestRecorderOptions<unknown>> = {
  ...REQUEST_DATA_OPTIONS,
  ...USERNAME_OPTION,
  describe: true,
  routes: true,
  reads: true,
  refusals: true,
  requestId: true,
  required: true,
}

/** The option `refusals`. Throws `INVALID_OPTION`. */
export function readRefusals(given: unknown): 'limited' | 'all' {
  if (given === undefined || given === 'limited' || given === 'all') return given ?? 'limited'
  throw new AuditLogError('INVALID_OPTION', "refusals must be 'limited' or 'all'")
}

/** The part of an audit log that records requests. */
export type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types' | 'links' | 'intents'>

/** Makes the middleware, the plugin or the wrapper of a framework that records requests. */
export interface RecordRequests<Options, Recording> {
  /**
   * Records requests. Mount it before all middleware whose requests it should record:
   *
   * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
   * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
   * - any request with a 5xx response or a thrown error: `error:api:controller:unhandled`.
   *
   * Requests of any method that are refused with 401, 403 or 429 are recorded too, and successful reads of the routes in
   * `reads`. Of refusals and failures without a user, and of any 401 and 429, the first for each address, type and status in
   * a minute is recorded, and one event with the number of the others.
   *
   * Controller and method come from `routes`, or from the path of the route by the conventions of Rails, including the paths of
   * its routers. Errors are recorded with their message and backtrace.
   *
   * The event is durable before the response ends, and it has the status of the response; fetch handlers and Hono return the
   * response when the event is durable. If an event cannot be recorded, the log emits `rejected`, and the response is still
   * sent. The response is never changed. Events recorded during the request get its user: see `withActor`.
   *
   * Throws `INVALID_OPTION` for invalid options.
   */
  (audit: RecordingAudit, options?: Options): Recording
}

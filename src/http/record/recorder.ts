import type { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import { normalAddress } from '../../event/address.js'
import { backtraceOf } from '../../event/failure.js'
import { storableText } from '../../event/json-copy.js'
import { hasReason, requestOutcome } from '../../event/known-attributes.js'
import { redactText } from '../../event/secret-values.js'
import { happened } from '../../recording/call-attributes.js'
import { activeSpan } from '../../recording/call-context.js'
import {
  actorAttributes,
  type KnownActor,
  LateActor,
  type RequestIds,
  runAlone,
  withRequest,
} from '../../recording/actor.js'
import type { JsonObject } from '../../event/event.js'
import type { Intent, OutcomeOptions } from '../../recording/intent.js'
import { USERNAME_OPTION, type UsernameOption } from '../username-option.js'
import type { RecordedExchange, RequestUser } from './exchange.js'
import { noPromise } from './no-promise.js'
import { isOwnRequest } from './own-request.js'
import {
  type Ending,
  endStatus,
  reasonOf,
  type RecordedResponse,
  SentResponse,
  sentStatus,
} from './reason.js'
import { limitRefusal } from './refusals.js'
import {
  type Arrival,
  type Data,
  REQUEST_DATA_OPTIONS,
  requestData,
  type RequestDataOptions,
} from './request-data.js'
import { parseTraceparent } from './trace-context.js'
import { checkRouteTypes, isMutating, routeKey, type RouteTypes, routeType } from './route-type.js'
import type { OptionNames } from '../../options.js'

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
  requestId: true,
  required: true,
}

/** A request whose handler runs. */
export interface Begun extends Arrival {
  readonly intent?: Intent | undefined
}

/** The part of an audit log that records requests. */
export type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types' | 'intents'>

/** Makes the middleware, the plugin or the wrapper of a framework that records requests. */
export interface RecordRequests<Options, Recording> {
  /**
   * Records requests. Mount it before all middleware whose requests it should record:
   *
   * - a mutating request (any method but GET, HEAD, OPTIONS and TRACE) that succeeds: `api:<controller>:<method>`;
   * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`;
   * - any request with a 5xx response or a thrown error: `error:api:controller:unhandled`.
   *
   * Refusals and failures without a user, and any 401 and 429, are recorded once a minute for each address, type and
   * status; the next of these events has the number of the others in `suppressed_count`.
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

const UNHANDLED = 'error:api:controller:unhandled'

/** The event of a request whose process ended before it was recorded. */
const INTERRUPTED = { error: 'the process ended before the outcome of the request was recorded' }

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/

function sentRequestId(exchange: RecordedExchange<unknown>): string | undefined {
  const id = exchange.header('x-request-id')
  return REQUEST_ID.test(id) ? id : undefined
}

/**
 * Calls a function of the host. If it throws, or returns a promise, its value is omitted and the request is still recorded.
 */
function callHost<Value>(
  exchange: RecordedExchange<unknown>,
  call: () => Value,
): Value | undefined {
  try {
    return noPromise(call())
  } catch (error) {
    exchange.report(error)
    return undefined
  }
}

/** The user of a request, without attributes if they are invalid. */
function userOf(exchange: RecordedExchange<unknown>): KnownActor {
  const user = callHost(exchange, () => exchange.username) ?? null
  if (user === null || typeof user !== 'object')
    return { actor: { username: user }, attributes: undefined }
  return { actor: user, attributes: callHost(exchange, () => actorAttributes(user)) }
}

type RecordedEvent = [type: string, data: Data, options: OutcomeOptions]

/** These are limited with a user, too: a wrong password may come with a name, and 429 is the answer to floods. */
const ALWAYS_LIMITED: ReadonlySet<number> = new Set([401, 429])

/** True if the status is not known, because no answer was sent: the handler may have done its work. */
const isUnanswered = ({ isAnswered, thrown }: Ending): boolean => isAnswered === false && !thrown

/** The status by which a request has ended; `undefined` if that is not known, as the client left before the handler was done. */
function knownStatus(exchange: RecordedExchange<unknown>, ending: Ending): number | undefined {
  const status = endStatus(exchange, ending)
  const isLeft = exchange.isAborted && status < 400
  return isLeft || isUnanswered(ending) ? undefined : status
}

/** The type of an event, with a throttle if a client without a user can cause any number of them. */
function limitedEvent(
  audit: object,
  exchange: RecordedExchange<unknown>,
  ending: Ending,
  {
    type,
    address,
    username,
  }: { readonly type: string; readonly address: string; readonly username: string | null },
): Pick<OutcomeOptions, 'throttle'> & { readonly type: string } {
  const status = endStatus(exchange, ending)
  const isKnown = username !== null && !ALWAYS_LIMITED.has(status)
  if (status < 400 || isUnanswered(ending) || isKnown) return { type }
  const { route, method } = exchange
  const failed = status < 500 ? undefined : route ? routeKey(method, route) : 'unmatched'
  return limitRefusal(audit, { type, status, route: failed, address })
}

const needsReason = ({ types }: RecordingAudit, type: string, attributes: Data): boolean =>
  types[type]?.reason === 'required' && !hasReason(attributes as JsonObject)

/** The request has been handled, so its event must not be lost. */
function recordWithoutReason(
  exchange: RecordedExchange<unknown>,
  type: string,
  attributes: Data,
): void {
  happened.add(attributes)
  const message = `${type} needs a reason, which describe must return: its event has none`
  exchange.report(new AuditLogError('INVALID_DATA', message))
}

/** The events of requests. */
interface RequestEvents<Context> {
  /** The id of the request in other logs. */
  readonly requestIdOf: (exchange: RecordedExchange<Context>) => string | undefined
  /** The event of a request that is not handled yet, for the case that its process ends. */
  interrupted(exchange: RecordedExchange<Context>, arrival: Arrival): Data
  /** The event of a request that has been handled; `undefined` if it leaves none. */
  ended(
    exchange: RecordedExchange<Context>,
    arrival: Arrival,
    ending: Ending,
  ): RecordedEvent | undefined
}

function requestEvents<Context>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Context>,
): RequestEvents<Context> {
  const { routes = {} } = options
  checkRouteTypes(routes)
  const request = requestData(options)

  const eventOf = (
    exchange: RecordedExchange<Context>,
    ending: Ending,
  ): [type: string, data: Data] | undefined => {
    if (isOwnRequest(exchange)) return undefined
    const status = endStatus(exchange, ending)
    if (status >= 500) {
      const backtrace = backtraceOf(ending.thrown?.value)
      const data = { error: reasonOf(exchange, ending), ...(backtrace && { backtrace }) }
      return [UNHANDLED, data]
    }
    if (!isMutating(exchange.method)) return undefined
    const route = routeType(exchange.route, exchange.method, audit.types, routes)
    if (!route) return undefined
    const { controller, method } = route
    if (status < 400) return [`api:${controller}:${method}`, {}]
    return [`error:${controller}:${method}`, { error: reasonOf(exchange, ending) }]
  }

  const requestIdOf = (exchange: RecordedExchange<Context>): string | undefined => {
    const id: unknown = callHost(exchange, () =>
      options.requestId ? options.requestId(exchange.context) : sentRequestId(exchange),
    )
    if (typeof id === 'string') return redactText(storableText(id))
    if (id !== undefined && id !== null)
      exchange.report(
        new AuditLogError('INVALID_OPTION', 'requestId must return a text or undefined'),
      )
    return undefined
  }
  const requestId = (exchange: RecordedExchange<Context>): Data => {
    const request_id = requestIdOf(exchange)
    return request_id === undefined ? {} : { request_id }
  }

  return {
    requestIdOf,
    interrupted: (exchange, arrival) => ({
      ...request.arrived(exchange, arrival),
      ...requestId(exchange),
      ...INTERRUPTED,
    }),
    ended(exchange, arrival, ending) {
      const event = eventOf(exchange, ending)
      if (!event) return undefined
      const [type, data] = event
      const status = sentStatus(exchange, ending)
      const described = callHost(exchange, () =>
        options.describe?.(exchange.context, new SentResponse(exchange, status)),
      )
      const ofHost = request.redacted(described)
      const { actor, attributes: ofActor } = userOf(exchange)
      const attributes = {
        ...request.of(exchange, arrival, status),
        ...requestId(exchange),
        ...ofActor,
        ...ofHost,
        ...requestOutcome(ofHost, knownStatus(exchange, ending)),
        ...data,
      }
      if (needsReason(audit, type, attributes)) recordWithoutReason(exchange, type, attributes)
      const username = actor.username || null
      const { address } = arrival
      const limited = limitedEvent(audit, exchange, ending, { type, address, username })
      return [limited.type, attributes, { username, throttle: limited.throttle }]
    },
  }
}

/** The user of a request, who may be known only later, when authentication runs. */
class RequestActor extends LateActor {
  readonly #exchange: RecordedExchange<unknown>

  constructor(exchange: RecordedExchange<unknown>) {
    super()
    this.#exchange = exchange
  }

  override read(): KnownActor {
    return userOf(this.#exchange)
  }
}

/** The ids of a request, whose own id middleware may set later. */
class IdsOfRequest<Context> implements RequestIds {
  readonly trace: RequestIds['trace']
  readonly #exchange: RecordedExchange<Context>
  readonly #idOf: RequestEvents<Context>['requestIdOf']
  #id: string | undefined

  constructor(
    exchange: RecordedExchange<Context>,
    { trace }: Arrival,
    idOf: RequestEvents<Context>['requestIdOf'],
  ) {
    this.trace = trace
    this.#exchange = exchange
    this.#idOf = idOf
  }

  get request_id(): string | undefined {
    this.#id ??= this.#idOf(this.#exchange)
    return this.#id
  }
}

/** Reads a request when it arrives. The address is unknown after the client has disconnected. */
export const arrivalOf = (exchange: RecordedExchange<unknown>): Arrival => ({
  time: performance.now(),
  address: normalAddress(callHost(exchange, () => exchange.address)),
  trace: activeSpan() ?? parseTraceparent(exchange.header('traceparent')),
})

/** Records requests, independent of the HTTP server. */
export interface RequestRecorder<Context> {
  /** True if the handler of a request has to wait for its intent. */
  needsIntent(exchange: RecordedExchange<Context>): boolean
  /** Resolves when the store has the intent of the request; rejects if it cannot keep it. */
  open(exchange: RecordedExchange<Context>, arrival: Arrival): Promise<Intent>
  /**
   * Calls the handler of a request as its user and returns its result: events recorded within it have the
   * user and the ids of the request.
   */
  handle<Result>(
    exchange: RecordedExchange<Context>,
    arrival: Arrival,
    handler: () => Result,
  ): Result
  /**
   * Records a request that has been handled: resolves when its event is durable, or is known to be lost, and
   * never rejects. Returns `undefined` if the request leaves no event and had no intent.
   */
  end(exchange: RecordedExchange<Context>, begun: Begun, ending: Ending): Promise<void> | undefined
}

/** Throws `INVALID_OPTION` for invalid options. */
export function requestRecorder<Context>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Context>,
): RequestRecorder<Context> {
  const { required = false } = options
  if (typeof required !== 'boolean')
    throw new AuditLogError('INVALID_OPTION', 'required must be true or false')
  const requests = requestEvents(audit, options)
  const intents = required ? audit.intents() : undefined

  const failed = async (
    exchange: RecordedExchange<Context>,
    intent: Intent | undefined,
    error: unknown,
  ): Promise<void> => {
    // The client still gets its response. The log has already reported rejected events.
    if (error instanceof AuditLogError) return
    exchange.report(error)
    await intent?.fail('the outcome of the request could not be described').catch(() => {})
  }

  const store = async (
    exchange: RecordedExchange<Context>,
    intent: Intent | undefined,
    event: RecordedEvent | undefined,
  ): Promise<void> => {
    try {
      // The event has all that is known of the request. Code that ends a response may run in the context of
      // another request.
      if (!event) await intent?.cancel()
      else await runAlone(() => (intent ? intent.record(...event) : audit.recordSystem(...event)))
    } catch (error) {
      await failed(exchange, intent, error)
    }
  }

  return {
    needsIntent: (exchange) => intents !== undefined && isMutating(exchange.method),
    open: async (exchange, arrival) =>
      runAlone(() => intents!.open(UNHANDLED, requests.interrupted(exchange, arrival))),
    handle: (exchange, arrival, handler) =>
      withRequest(
        new RequestActor(exchange),
        new IdsOfRequest(exchange, arrival, requests.requestIdOf),
        handler,
      ),
    end(exchange, { intent, ...arrival }, ending) {
      let event: RecordedEvent | undefined
      try {
        event = requests.ended(exchange, arrival, ending)
      } catch (error) {
        return failed(exchange, intent, error)
      }
      return event || intent ? store(exchange, intent, event) : undefined
    },
  }
}

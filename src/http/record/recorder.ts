import type { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import { normalAddress } from '../../event/address.js'
import type { EventTypes } from '../../event/event-types.js'
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
import { countNow, KnownCollapse } from '../../recording/collapse-rules.js'
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
import {
  createReadRoutes,
  isShown,
  readCollapse,
  readKeys,
  type ReadRoute,
  type ReadRoutes,
} from './reads.js'
import { refusalCollapse, triedName } from './refusals.js'
import {
  type Arrival,
  type Data,
  REQUEST_DATA_OPTIONS,
  requestData,
  type RequestDataOptions,
} from './request-data.js'
import { parseTraceparent } from './trace-context.js'
import {
  checkRouteTypes,
  isMutating,
  isRefused,
  routeKey,
  type RouteTypes,
  routeType,
} from './route-type.js'
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

/** A request whose handler runs. */
export interface Begun extends Arrival {
  readonly intent?: Intent | undefined
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

const UNHANDLED = 'error:api:controller:unhandled'
/** A refusal by an endpoint of the log. */
const OWN_REFUSED = 'error:audit_log:refused'

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

/** The data is that of the collapse. */
const NO_DATA: Data = {}

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

/** Why a request failed. */
interface Failure {
  readonly error: string
  readonly backtrace?: string
}

/** A request whose event is being made. */
interface Recorded {
  readonly type: string
  readonly error: string
  readonly address: string
  readonly username: string | null
  /** The data of the event. */
  readonly data: () => Data
}

/** The event of a request, which is counted if a client can cause any number of them. */
function limitedEvent(
  audit: object,
  exchange: RecordedExchange<unknown>,
  ending: Ending,
  { type, error, address, username, data }: Recorded,
): RecordedEvent {
  const status = endStatus(exchange, ending)
  const isKnown = username !== null && !ALWAYS_LIMITED.has(status)
  const isRead = isOwnRequest(exchange) || !isMutating(exchange.method)
  const isRefusedRead = isRead && isRefused(status)
  if (status < 400 || isUnanswered(ending) || (isKnown && !isRefusedRead))
    return [type, data(), { username }]
  const { route, method } = exchange
  const tried =
    isRefused(status) && !isKnown ? callHost(exchange, () => triedName(exchange)) : undefined
  const refusal = {
    type,
    status,
    route: status < 500 ? undefined : route ? routeKey(method, route) : 'unmatched',
    address,
    username: isKnown ? username : null,
    tried: tried ?? (isKnown ? undefined : (username ?? undefined)),
    error,
  }
  const limited = refusalCollapse(audit, refusal, data)
  return [limited.type, NO_DATA, { username, collapse: limited.collapse }]
}

/** The option `refusals`. Throws `INVALID_OPTION`. */
function readRefusals(given: unknown): 'limited' | 'all' {
  if (given === undefined || given === 'limited' || given === 'all') return given ?? 'limited'
  throw new AuditLogError('INVALID_OPTION', "refusals must be 'limited' or 'all'")
}

/** The type of a request's event, with the reason of a failure; `undefined` if the request leaves none. */
function outcomeOf(
  exchange: RecordedExchange<unknown>,
  ending: Ending,
  { types, routes }: { readonly types: EventTypes; readonly routes: RouteTypes },
): readonly [type: string, failure?: Failure] | undefined {
  const status = endStatus(exchange, ending)
  const failed = (): Failure => ({ error: reasonOf(exchange, ending) })
  if (isOwnRequest(exchange)) return isRefused(status) ? [OWN_REFUSED, failed()] : undefined
  if (status >= 500) {
    const backtrace = backtraceOf(ending.thrown?.value)
    return [UNHANDLED, { ...failed(), ...(backtrace && { backtrace }) }]
  }
  if (!isMutating(exchange.method) && !isRefused(status)) return undefined
  const route = routeType(exchange.route, exchange.method, types, routes)
  if (!route) return undefined
  const { controller, method } = route
  return status < 400
    ? [`api:${controller}:${method}`]
    : [`error:${controller}:${method}`, failed()]
}

/** Returns a function that returns the id of a request in other logs. */
function createRequestId<Context>(options: RequestRecorderOptions<Context>) {
  return (exchange: RecordedExchange<Context>): string | undefined => {
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
}

/** The data of an event. If its type needs a reason that is missing, it is recorded all the same: the request has been handled. */
function withoutReason(
  { types }: RecordingAudit,
  exchange: RecordedExchange<unknown>,
  type: string,
  attributes: Data,
): Data {
  if (types[type]?.reason !== 'required' || hasReason(attributes as JsonObject)) return attributes
  happened.add(attributes)
  const message = `${type} needs a reason, which describe must return: its event has none`
  exchange.report(new AuditLogError('INVALID_DATA', message))
  return attributes
}

/** The events of requests. */
interface RequestEvents<Context> {
  /** The routes whose reads are recorded. */
  readonly reads: ReadRoutes
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

/** A request that has ended, as its event is made of it. */
interface Ended {
  readonly arrival: Arrival
  readonly ending: Ending
  /** The attributes of the user. */
  readonly attributes: Data | undefined
  /** The result of the host's `describe`. */
  readonly described: unknown
}

/** Returns a function that returns the data of the event of a request. */
const createData =
  <Context>(
    request: ReturnType<typeof requestData>,
    requestId: (exchange: RecordedExchange<Context>) => Data,
  ) =>
  (
    exchange: RecordedExchange<Context>,
    { arrival, ending, attributes, described }: Ended,
  ): Data => {
    const ofHost = request.redacted(described)
    return {
      ...request.of(exchange, arrival, sentStatus(exchange, ending)),
      ...requestId(exchange),
      ...attributes,
      ...ofHost,
      ...requestOutcome(ofHost, knownStatus(exchange, ending)),
    }
  }

function requestEvents<Context>(
  audit: RecordingAudit,
  options: RequestRecorderOptions<Context>,
): RequestEvents<Context> {
  const { routes = {} } = options
  const keys = readKeys(options.reads)
  checkRouteTypes(routes, keys)
  const isLimited = readRefusals(options.refusals) === 'limited'
  const request = requestData(options)
  const reads = createReadRoutes({ keys, routes, isSecret: request.isSecret }, audit)

  const requestIdOf = createRequestId(options)
  const requestId = (exchange: RecordedExchange<Context>): Data => {
    const request_id = requestIdOf(exchange)
    return request_id === undefined ? {} : { request_id }
  }

  const describe = (exchange: RecordedExchange<Context>, status: number): Data | undefined =>
    options.describe &&
    callHost(exchange, () =>
      options.describe!(exchange.context, new SentResponse(exchange, status)),
    )
  const dataOf = createData(request, requestId)
  const readEvent = (
    exchange: RecordedExchange<Context>,
    arrival: Arrival,
    ending: Ending,
    route: ReadRoute,
  ): RecordedEvent => {
    const { actor, attributes } = userOf(exchange)
    const username = actor.username || null
    const described = describe(exchange, exchange.status) ?? NO_DATA
    const data = (): Data =>
      withoutReason(
        audit,
        exchange,
        route.type,
        dataOf(exchange, { arrival, ending, attributes, described }),
      )
    const { redacted } = request
    const read = { route, exchange, username, described, data, redacted }
    return [route.type, NO_DATA, { username, collapse: readCollapse(read) }]
  }

  return {
    reads,
    requestIdOf,
    interrupted: (exchange, arrival) => ({
      ...request.arrived(exchange, arrival),
      ...requestId(exchange),
      ...INTERRUPTED,
    }),
    ended(exchange, arrival, ending) {
      const isRead = !ending.thrown && isShown(exchange.status) && !isOwnRequest(exchange)
      const read = isRead ? reads.of(exchange) : undefined
      if (read) return readEvent(exchange, arrival, ending, read)
      const outcome = outcomeOf(exchange, ending, { types: audit.types, routes })
      if (!outcome) return undefined
      const [type, failure] = outcome
      const { actor, attributes } = userOf(exchange)
      const data = (): Data => {
        const described = describe(exchange, sentStatus(exchange, ending))
        const all = { ...dataOf(exchange, { arrival, ending, attributes, described }), ...failure }
        return withoutReason(audit, exchange, type, all)
      }
      const username = actor.username || null
      if (!isLimited || !failure) return [type, data(), { username }]
      const { address } = arrival
      const { error } = failure
      return limitedEvent(audit, exchange, ending, { type, error, address, username, data })
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
  /** True if the response of a request lists records whose reads are recorded. */
  readsList(exchange: RecordedExchange<Context>): boolean
  /** True if the success of a request is recorded. */
  isRecorded(exchange: RecordedExchange<Context>): boolean
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
    readsList: (exchange) => requests.reads.of(exchange)?.isList === true,
    isRecorded: (exchange) =>
      isMutating(exchange.method) || requests.reads.of(exchange) !== undefined,
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
      const collapse = event?.[2].collapse
      if (!intent && collapse instanceof KnownCollapse && countNow(audit, collapse))
        return undefined
      return event || intent ? store(exchange, intent, event) : undefined
    },
  }
}

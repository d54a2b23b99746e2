import type { AuditLog } from '../../audit-log.js'
import { AuditLogError } from '../../errors.js'
import { redactText } from '../../event/secret-values.js'
import type { Actor } from '../../recording/actor.js'
import type { Intent } from '../../recording/intents.js'
import type { RecordedExchange } from './exchange.js'
import { isOwnRequest } from './own-request.js'
import { backtraceOf, type Ending, endStatus, reasonOf, sentStatus } from './reason.js'
import { refusalLimiter } from './refusals.js'
import { type Arrival, type Data, requestData, type RequestDataOptions } from './request-data.js'
import { checkRouteTypes, isMutating, type RouteTypes, routeType } from './route-type.js'

export interface RequestRecorderOptions<Context> extends RequestDataOptions {
  /**
   * Returns additional data for the event of a request: `name`, `parent`, link attributes. Called when the
   * response is known, for requests that are recorded.
   */
  describe?(request: Context): Data | undefined
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

/** A request whose handler runs. */
export interface Begun extends Arrival {
  readonly intent?: Intent | undefined
}

/** The part of an audit log that records requests. */
export type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types' | 'intents'>

const UNHANDLED = 'error:api:controller:unhandled'

/** The event of a request whose process ended before it was recorded. */
const INTERRUPTED = {
  error: 'the process ended before the outcome of the request was recorded',
  unfinished: true,
}

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/

function sentRequestId(exchange: RecordedExchange<unknown>): string | undefined {
  const id = exchange.header('x-request-id')
  return REQUEST_ID.test(id) ? id : undefined
}

/** Calls a function of the host. If it throws, its value is omitted and the request is still recorded. */
function callHost<Value>(
  exchange: RecordedExchange<unknown>,
  call: () => Value,
): Value | undefined {
  try {
    return call()
  } catch (error) {
    exchange.report(error)
    return undefined
  }
}

const usernameOf = (exchange: RecordedExchange<unknown>): string | null =>
  callHost(exchange, () => exchange.username) ?? null

type RecordedEvent = [type: string, data: Data, options: { readonly username: string | null }]

/** The events of requests. */
interface RequestEvents<Context> {
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
  const admitRefusal = refusalLimiter()

  const eventOf = (
    exchange: RecordedExchange<Context>,
    ending: Ending,
  ): [type: string, data: Data] | undefined => {
    if (isOwnRequest(audit, exchange)) return undefined
    const status = endStatus(exchange, ending)
    if (status >= 500) {
      const backtrace = backtraceOf(ending)
      const data = { error: reasonOf(exchange, ending), ...(backtrace && { backtrace }) }
      return [UNHANDLED, data]
    }
    if (!isMutating(exchange.method)) return undefined
    const route = routeType(exchange.route, exchange.method, audit.types, routes)
    if (!route) return undefined
    const { controller, method } = route
    if (status < 400) return [`api:${controller}:${method}`, {}]
    const admitted = admitRefusal(status, exchange.address)
    return (
      admitted && [
        `error:${controller}:${method}`,
        { error: reasonOf(exchange, ending), ...admitted },
      ]
    )
  }

  const requestId = (exchange: RecordedExchange<Context>): Data => {
    const id = callHost(exchange, () =>
      options.requestId ? options.requestId(exchange.context) : sentRequestId(exchange),
    )
    return id === undefined ? {} : { request_id: redactText(id) }
  }

  return {
    interrupted: (exchange, arrival) => ({
      ...request.arrived(exchange, arrival),
      ...requestId(exchange),
      ...INTERRUPTED,
    }),
    ended(exchange, arrival, ending) {
      const event = eventOf(exchange, ending)
      if (!event) return undefined
      const [type, data] = event
      const described = callHost(exchange, () => options.describe?.(exchange.context))
      const attributes = {
        ...request.of(exchange, arrival, sentStatus(exchange, ending)),
        ...requestId(exchange),
        ...request.redacted(described),
        ...data,
      }
      return [type, attributes, { username: usernameOf(exchange) }]
    },
  }
}

/**
 * The user of a request, who may be known only later, when authentication runs. A class, because an object
 * with a getter would get a hidden class of its own for each request.
 */
class RequestActor implements Actor {
  readonly #exchange: RecordedExchange<unknown>

  constructor(exchange: RecordedExchange<unknown>) {
    this.#exchange = exchange
  }

  get username(): string | null {
    return usernameOf(this.#exchange)
  }
}

/** What is known of a request when it arrives. The address is unknown after the client has disconnected. */
export const arrivalOf = ({ address }: RecordedExchange<unknown>): Arrival => ({
  time: performance.now(),
  address,
})

/** The user as whom a request is handled. */
export const requestActor = (exchange: RecordedExchange<unknown>): Actor =>
  new RequestActor(exchange)

/** Records requests, independent of the HTTP server. */
export interface RequestRecorder<Context> {
  /** Whether the handler of a request has to wait for its intent. */
  needsIntent(exchange: RecordedExchange<Context>): boolean
  /** Resolves when the store has the intent of the request; rejects if it cannot keep it. */
  open(exchange: RecordedExchange<Context>, arrival: Arrival): Promise<Intent>
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

  const failed = (
    exchange: RecordedExchange<Context>,
    intent: Intent | undefined,
    error: unknown,
  ): void => {
    // The client still gets its response. The log has already reported rejected events.
    if (error instanceof AuditLogError) return
    intent?.fail('the outcome of the request could not be described')
    exchange.report(error)
  }

  const store = async (
    exchange: RecordedExchange<Context>,
    intent: Intent | undefined,
    event: RecordedEvent | undefined,
  ): Promise<void> => {
    try {
      if (!event) await intent?.cancel()
      else await (intent ? intent.record(...event) : audit.recordSystem(...event))
    } catch (error) {
      failed(exchange, intent, error)
    }
  }

  return {
    needsIntent: (exchange) =>
      intents !== undefined && isMutating(exchange.method) && !isOwnRequest(audit, exchange),
    open: async (exchange, arrival) =>
      intents!.open(UNHANDLED, requests.interrupted(exchange, arrival)),
    end(exchange, { intent, ...arrival }, ending) {
      let event: RecordedEvent | undefined
      try {
        event = requests.ended(exchange, arrival, ending)
      } catch (error) {
        failed(exchange, intent, error)
        return undefined
      }
      return event || intent ? store(exchange, intent, event) : undefined
    },
  }
}

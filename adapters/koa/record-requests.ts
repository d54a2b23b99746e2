import { type Actor, withActor } from '../../src/recording/actor.js'
import type { AuditLog } from '../../src/audit-log.js'
import { AuditLogError } from '../../src/errors.js'
import { redactText } from '../../src/event/secret-values.js'
import type { Intent } from '../../src/recording/intents.js'
import { errorResponse } from '../../src/http/problem.js'
import { closeWithConnection } from '../../src/http/node-request.js'
import { beforeEnd } from './before-end.js'
import { sendResponse, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'
import { backtraceOf, type Ending, endStatus, readReason, reasonOf, sentStatus } from './reason.js'
import { refusalLimiter } from './refusals.js'
import { type Arrival, type Data, requestData, type RequestDataOptions } from './request-data.js'
import {
  checkRouteTypes,
  isMutating,
  type RouteTypes,
  routeType,
  handlingRoute,
} from './route-type.js'
import { isOwnRequest } from './unrecorded.js'

export interface RecordRequestsOptions extends UsernameOption, RequestDataOptions {
  /**
   * Returns additional data for the event of a request: `name`, `parent`, link attributes. Called when the
   * response is known, for requests that are recorded.
   */
  describe?(ctx: RoutedContext): Data | undefined
  /** Event types of some routes, or false for routes that are not recorded. */
  readonly routes?: RouteTypes
  /**
   * The id of the request in other logs, or undefined.
   * @default the header `x-request-id` if it has 1 to 200 visible ASCII characters
   */
  requestId?(ctx: RoutedContext): string | undefined
  /**
   * Handles a mutating request only once the store has its intent. If it has not, the response is 503 and the
   * handler does not run. The request leaves exactly one event, even if the process ends before the response.
   * Costs one more commit of the store for each group of requests.
   * @default false
   */
  readonly required?: boolean
}

/** A request whose handler runs. */
interface Begun extends Arrival {
  readonly intent?: Intent | undefined
}

type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types' | 'intents'>

const UNHANDLED = 'error:api:controller:unhandled'

/** The event of a request whose process ended before it was recorded. */
const INTERRUPTED = {
  error: 'the process ended before the outcome of the request was recorded',
  unfinished: true,
}

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/

function requestIdOf(ctx: RoutedContext): string | undefined {
  const id = ctx.get('x-request-id')
  return REQUEST_ID.test(id) ? id : undefined
}

/** The response has not begun, and the client is still there. */
const isPending = ({ res }: RoutedContext): boolean => !res.headersSent && !res.destroyed

/** A handler that bypasses Koa may return before it sends the response. */
const respondsLater = (ctx: RoutedContext): boolean => ctx.respond === false && isPending(ctx)

/** Koa never responds to these, so the event does not wait for a response. */
const isUnanswerable = (thrown: unknown): boolean => thrown === null || thrown === undefined

/** Calls a function of the host. If it throws, its value is omitted and the request is still recorded. */
function callHost<Value>(ctx: RoutedContext, call: () => Value): Value | undefined {
  try {
    return call()
  } catch (error) {
    ctx.app.emit('error', error, ctx)
    return undefined
  }
}

type RecordedEvent = [type: string, data: Data, options: { readonly username: string | null }]

/** The events of requests. */
interface RequestEvents {
  /** The event of a request that is not handled yet, for the case that its process ends. */
  interrupted(ctx: RoutedContext, arrival: Arrival): Data
  /** The event of a request that has been handled; `undefined` if it leaves none. */
  ended(ctx: RoutedContext, arrival: Arrival, ending: Ending): RecordedEvent | undefined
  username(ctx: RoutedContext): string | null
}

function requestEvents(audit: RecordingAudit, options: RecordRequestsOptions): RequestEvents {
  const { routes = {} } = options
  checkRouteTypes(routes)
  const request = requestData(options)
  const admitRefusal = refusalLimiter()

  const username = (ctx: RoutedContext): string | null =>
    callHost(ctx, () => usernameOf(ctx, options)) ?? null

  const eventOf = (ctx: RoutedContext, ending: Ending): [type: string, data: Data] | undefined => {
    if (isOwnRequest(audit, ctx)) return undefined
    const status = endStatus(ctx, ending)
    if (status >= 500) {
      const backtrace = backtraceOf(ending)
      const data = { error: reasonOf(ctx, ending), ...(backtrace && { backtrace }) }
      return [UNHANDLED, data]
    }
    if (!isMutating(ctx.method)) return undefined
    const route = routeType(handlingRoute(ctx), ctx.method, audit.types, routes)
    if (!route) return undefined
    const { controller, method } = route
    if (status < 400) return [`api:${controller}:${method}`, {}]
    const admitted = admitRefusal(status, ctx.ip)
    return (
      admitted && [`error:${controller}:${method}`, { error: reasonOf(ctx, ending), ...admitted }]
    )
  }

  const requestId = (ctx: RoutedContext): Data => {
    const id = callHost(ctx, () => (options.requestId ? options.requestId(ctx) : requestIdOf(ctx)))
    return id === undefined ? {} : { request_id: redactText(id) }
  }

  return {
    interrupted: (ctx, arrival) => ({
      ...request.arrived(ctx, arrival),
      ...requestId(ctx),
      ...INTERRUPTED,
    }),
    ended(ctx, arrival, ending) {
      const event = eventOf(ctx, ending)
      if (!event) return undefined
      const [type, data] = event
      const described = callHost(ctx, () => options.describe?.(ctx))
      const attributes = {
        ...request.of(ctx, arrival, sentStatus(ctx, ending)),
        ...requestId(ctx),
        ...request.redacted(described),
        ...data,
      }
      return [type, attributes, { username: username(ctx) }]
    },
    username,
  }
}

/**
 * The user of a request, who may be known only later, when authentication runs. A class, because an object
 * with a getter would get a hidden class of its own for each request.
 */
class RequestActor implements Actor {
  readonly #find: () => string | null

  constructor(find: () => string | null) {
    this.#find = find
  }

  get username(): string | null {
    return this.#find()
  }
}

/**
 * Koa middleware that records requests. Mount it before all middleware whose requests it should record:
 *
 * - a mutating request (POST, PUT, PATCH, DELETE) that succeeds: `api:<controller>:<method>`;
 * - a mutating request with a 4xx response: `error:<controller>:<method>`, with the reason in `error`
 *   (401 and 429 once a minute per address, with the `count`);
 * - any request with a 5xx response or a thrown error: `error:api:controller:unhandled`.
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
  const { required = false } = options
  if (typeof required !== 'boolean')
    throw new AuditLogError('INVALID_OPTION', 'required must be true or false')
  const requests = requestEvents(audit, options)
  const intents = required ? audit.intents() : undefined

  const intentOf = async (ctx: RoutedContext, arrival: Arrival): Promise<Intent | undefined> => {
    if (!intents || !isMutating(ctx.method) || isOwnRequest(audit, ctx)) return undefined
    return intents.open(UNHANDLED, requests.interrupted(ctx, arrival))
  }

  const record = async (
    ctx: RoutedContext,
    { intent, ...arrival }: Begun,
    ending: Ending,
  ): Promise<void> => {
    try {
      const event = requests.ended(ctx, arrival, ending)
      if (!event) await intent?.cancel()
      else await (intent ? intent.record(...event) : audit.recordSystem(...event))
    } catch (error) {
      // The client still gets its response. The log has already reported rejected events.
      if (error instanceof AuditLogError) return
      intent?.fail('the outcome of the request could not be described')
      ctx.app.emit('error', error, ctx)
    }
  }

  /** Responds to a request whose intent the store does not keep. It counts as lost if it cannot be recorded. */
  const refuse = (ctx: RoutedContext, arrival: Arrival, error: unknown): void => {
    sendResponse(ctx, errorResponse(error))
    void record(ctx, arrival, {})
  }

  const recordAtEnd = (ctx: RoutedContext, arrival: Begun, ending: Ending): void =>
    beforeEnd(ctx.res, (isAnswered) => record(ctx, arrival, { ...ending, isAnswered }))

  return async function recordRequests(ctx: RoutedContext, next) {
    // The address is unknown after the client has disconnected.
    const arrived: Arrival = { time: performance.now(), address: ctx.ip }
    // Otherwise a pipelined response may never emit `close` nor be recorded as `aborted`.
    closeWithConnection(ctx.res)
    const actor = new RequestActor(() => requests.username(ctx))
    let arrival: Begun
    try {
      arrival = { ...arrived, intent: await intentOf(ctx, arrived) }
    } catch (error) {
      return refuse(ctx, arrived, error)
    }
    try {
      await withActor(actor, next)
    } catch (error) {
      const ending: Ending = { thrown: { value: error } }
      if (isPending(ctx) && !isUnanswerable(error)) recordAtEnd(ctx, arrival, ending)
      else await record(ctx, arrival, ending)
      throw error
    }
    if (respondsLater(ctx)) recordAtEnd(ctx, arrival, {})
    else if (isPending(ctx) && ctx.res.statusCode >= 400)
      recordAtEnd(ctx, arrival, { reason: readReason(ctx) })
    else await record(ctx, arrival, {})
  }
}

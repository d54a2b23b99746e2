import { type Actor, withActor } from '../../src/recording/actor.js'
import type { AuditLog } from '../../src/audit-log.js'
import { AuditLogError } from '../../src/errors.js'
import { closeWithConnection } from '../../src/http/node-request.js'
import { type UsernameOption, usernameOf } from './exchange.js'
import type { KoaMiddleware, RoutedContext } from './koa.js'
import { backtraceOf, type Ending, endStatus, reasonOf, sentStatus } from './reason.js'
import { refusalLimiter } from './refusals.js'
import { type Arrival, type Data, requestData, type RequestDataOptions } from './request-data.js'
import {
  checkRouteTypes,
  isMutating,
  type RouteTypes,
  routeType,
  takenRoute,
} from './route-type.js'
import { isOwnRequest } from './unrecorded.js'

export interface RecordRequestsOptions extends UsernameOption, RequestDataOptions {
  /**
   * Adds to a request's event what the route knows: `name`, `parent`, link attributes. Called once
   * the response is known, for requests that leave an event.
   */
  describe?(ctx: RoutedContext): Data | undefined
  /** What requests to some routes are called, or false for those that leave no event. */
  readonly routes?: RouteTypes
  /**
   * The id by which other logs know the request, undefined where it has none.
   * @default the header `x-request-id`, where it is 1 to 200 visible ASCII characters
   */
  requestId?(ctx: RoutedContext): string | undefined
}

type RecordingAudit = Pick<AuditLog, 'recordSystem' | 'types'>

const UNHANDLED = 'error:api:controller:unhandled'

const REQUEST_ID = /^[\x21-\x7e]{1,200}$/

function requestIdOf(ctx: RoutedContext): string | undefined {
  const id = ctx.get('x-request-id')
  return REQUEST_ID.test(id) ? id : undefined
}

/** A handler that answers by itself may not have done so when it is done. */
const answersLater = ({ respond, res }: RoutedContext): boolean =>
  respond === false && !res.headersSent && !res.destroyed

/**
 * Koa middleware that records requests, to be mounted outside everything that it should see:
 *
 * - a mutating request (POST, PUT, PATCH, DELETE) that succeeds: `api:<controller>:<method>`;
 * - one that is answered 4xx: `error:<controller>:<method>`, with the reason in `error`
 *   (401 and 429 once a minute for each address, with the `count`);
 * - any request answered 5xx or ended by an error: `error:api:controller:unhandled`.
 *
 * Controller and method are what `routes` says, or come from the route that @koa/router matched: its
 * name, or its path by Rails' manner. The event is durable before the response is sent; where it cannot
 * be recorded the log's `rejected` event tells, and the response goes all the same. The response is
 * never changed. All that is done for the request is done by its user: see `withActor`.
 *
 * Throws `INVALID_OPTION` for options that cannot be meant.
 */
export function recordRequests(
  audit: RecordingAudit,
  options: RecordRequestsOptions = {},
): KoaMiddleware {
  const { routes = {} } = options
  checkRouteTypes(routes)
  const request = requestData(options)
  const admitRefusal = refusalLimiter()

  /** What the host cannot tell is left out; the request is recorded all the same. */
  const asked = <Value>(ctx: RoutedContext, ask: () => Value): Value | undefined => {
    try {
      return ask()
    } catch (error) {
      ctx.app.emit('error', error, ctx)
      return undefined
    }
  }
  const username = (ctx: RoutedContext): string | null =>
    asked(ctx, () => usernameOf(ctx, options)) ?? null

  const eventOf = (ctx: RoutedContext, ending: Ending): [type: string, data: Data] | undefined => {
    if (isOwnRequest(audit, ctx)) return undefined
    const status = endStatus(ctx, ending)
    if (status >= 500) {
      const backtrace = backtraceOf(ending)
      const data = { error: reasonOf(ctx, ending), ...(backtrace && { backtrace }) }
      return [UNHANDLED, data]
    }
    if (!isMutating(ctx.method)) return undefined
    const route = routeType(takenRoute(ctx), ctx.method, audit.types, routes)
    if (!route) return undefined
    const { controller, method } = route
    if (status < 400) return [`api:${controller}:${method}`, {}]
    const admitted = admitRefusal(status, ctx.ip)
    return (
      admitted && [`error:${controller}:${method}`, { error: reasonOf(ctx, ending), ...admitted }]
    )
  }

  const record = async (ctx: RoutedContext, arrival: Arrival, ending: Ending): Promise<void> => {
    try {
      const event = eventOf(ctx, ending)
      if (!event) return
      const [type, data] = event
      const described = asked(ctx, () => options.describe?.(ctx))
      const request_id = asked(ctx, () =>
        options.requestId ? options.requestId(ctx) : requestIdOf(ctx),
      )
      await audit.recordSystem(
        type,
        {
          ...request.of(ctx, arrival, sentStatus(ctx, ending)),
          ...(request_id !== undefined && { request_id }),
          ...request.redacted(described),
          ...data,
        },
        { username: username(ctx) },
      )
    } catch (error) {
      // It must not cost the client the response. What the log rejected it has told itself.
      if (!(error instanceof AuditLogError)) ctx.app.emit('error', error, ctx)
    }
  }

  return async function recordRequests(ctx: RoutedContext, next) {
    // Once the client has gone its address is not known any more.
    const arrival = { time: performance.now(), address: ctx.ip }
    // Or it would never be told of a client that has gone, nor be recorded as `aborted`.
    closeWithConnection(ctx.res)
    const actor: Actor = {
      // Not before it is asked for: authentication comes later.
      get username() {
        return username(ctx)
      },
    }
    try {
      await withActor(actor, next)
    } catch (error) {
      await record(ctx, arrival, { thrown: { value: error } })
      throw error
    }
    if (answersLater(ctx)) ctx.res.once('close', () => void record(ctx, arrival, {}))
    else await record(ctx, arrival, {})
  }
}

import type { EventTypes } from '../../event/event-types.js'
import { backtraceOf } from '../../event/failure.js'
import type { RecordedExchange } from './exchange.js'
import { isOwnRequest } from './own-request.js'
import { type Ending, endStatus, reasonOf } from './reason.js'
import { isMutating, isRefused, type RouteTypes, routeType } from './route-type.js'

/* The outcome of a request: the type of its event, and why it failed. */

export const UNHANDLED = 'error:api:controller:unhandled'
/** A refusal by an endpoint of the log. */
const OWN_REFUSED = 'error:audit_log:refused'

/** True if the status is not known, because no answer was sent: the handler may have done its work. */
export const isUnanswered = ({ isAnswered, thrown }: Ending): boolean =>
  isAnswered === false && !thrown

/** The status by which a request has ended; `undefined` if that is not known, as the client left before the handler was done. */
export function knownStatus(
  exchange: RecordedExchange<unknown>,
  ending: Ending,
): number | undefined {
  const status = endStatus(exchange, ending)
  const isLeft = exchange.isAborted && status < 400
  return isLeft || isUnanswered(ending) ? undefined : status
}

/** Why a request failed. */
export interface Failure {
  readonly error: string
  readonly backtrace?: string
}

/** The type of a request's event, with the reason of a failure; `undefined` if the request leaves none. */
export function outcomeOf(
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

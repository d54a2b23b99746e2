import { markAsOwn } from '../../src/http/record/own-request.js'
import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../../src/http/subscriptions/endpoint.js'
import type { ManagedAudit } from '../../src/http/subscriptions/managed-audit.js'
import { toRequest, toResponse } from './exchange.js'
import { type HonoContext, type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'

export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<HonoContext> & UsernameOption

/**
 * Hono middleware by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. Requests to other paths are passed to the next middleware. Mount it after authentication. What users
 * change is recorded as an event by the log; the requests are not recorded.
 *
 * Errors of the host's functions go to `onError`.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): HonoMiddleware {
  const endpoint = subscriptionsEndpoint(audit, options)
  return async function subscriptionRoutes(context, next) {
    const request = toRequest(context, () => usernameOf(context, options))
    const response = endpoint(request)
    if (!response) return next()
    markAsOwn(context)
    return toResponse(context, request, await response)
  }
}

import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../../src/http/subscriptions/endpoint.js'
import type { ManagedAudit } from '../../src/http/subscriptions/managed-audit.js'
import { mountEndpoint } from './exchange.js'
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
  return mountEndpoint(endpoint, (context) => usernameOf(context, options))
}

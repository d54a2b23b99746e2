import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../../src/http/subscriptions/endpoint.js'
import type { ManagedAudit } from '../../src/http/subscriptions/managed-audit.js'
import { mountEndpoint, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'

export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<KoaContext> & UsernameOption

/**
 * Koa middleware by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. Requests to other paths are passed to the next middleware. Mount it after authentication. What users
 * change is recorded as an event by the log; the requests are not recorded.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): KoaMiddleware {
  const endpoint = subscriptionsEndpoint(audit, options)
  return mountEndpoint(endpoint, (ctx) => usernameOf(ctx, options))
}

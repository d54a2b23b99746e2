import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../../src/http/subscriptions/endpoint.js'
import type { ManagedAudit } from '../../src/http/subscriptions/managed-audit.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { endpointPlugin } from './exchange.js'
import type { FastifyPlugin, FastifyRequest } from './fastify.js'

export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<FastifyRequest> &
  UsernameOption<FastifyRequest>

/**
 * Fastify plugin by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. Register it after authentication. With a prefix, `path` includes the prefix. What users change is
 * recorded as an event by the log; the requests are not recorded.
 *
 * Errors of the host's functions go to the error handler of Fastify.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): FastifyPlugin {
  const endpoint = subscriptionsEndpoint(audit, options)
  return endpointPlugin(endpoint, endpoint.paths, (request) => usernameOf(request, options))
}

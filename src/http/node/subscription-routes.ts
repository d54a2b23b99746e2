import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../subscriptions/endpoint.js'
import type { ManagedAudit } from '../subscriptions/managed-audit.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import { mountEndpoint } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<NodeRequest> &
  UsernameOption<NodeRequest>

/**
 * Lets users manage subscriptions and notification channels: `<path>/subscriptions` and `<path>/notification_channels`. Works as
 * middleware of Express and Connect under any mount path, and as a request listener of `node:http` that responds 404 to other paths.
 * Mount it after authentication, and before or after body parsers. What users change is recorded as an event by the log; the requests
 * are not recorded.
 *
 * Errors of the host's functions are passed to `next`. Without a `next` that takes an error, the error
 * becomes a process warning and the response is 500.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): NodeListener {
  const endpoint = subscriptionsEndpoint(audit, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

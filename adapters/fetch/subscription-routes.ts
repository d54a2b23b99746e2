import {
  subscriptionsEndpoint,
  type SubscriptionsEndpointOptions,
} from '../../src/http/subscriptions/endpoint.js'
import type { ManagedAudit } from '../../src/http/subscriptions/managed-audit.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'
import { mountEndpoint } from './mount-endpoint.js'

export type SubscriptionRoutesOptions = SubscriptionsEndpointOptions<FetchRequest> &
  UsernameOption<FetchRequest>

/**
 * Returns a fetch handler by which users manage subscriptions and notification channels: `<path>/subscriptions` and
 * `<path>/notification_channels`. It returns undefined for other paths. Call it after authentication. What users change is recorded as
 * an event by the log; the requests are not recorded.
 *
 * Rejects with the errors of the host's functions.
 */
export function subscriptionRoutes(
  audit: ManagedAudit,
  options: SubscriptionRoutesOptions = {},
): FetchMount {
  const endpoint = subscriptionsEndpoint(audit, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

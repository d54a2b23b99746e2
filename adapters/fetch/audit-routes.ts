import {
  DEFAULT_PATH,
  eventsEndpoint,
  type EventsEndpointOptions,
} from '../../src/http/events/endpoint.js'
import type { EndpointAudit } from '../../src/http/events/handler.js'
import { declareMount } from '../../src/http/mounts.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'
import { mountEndpoint } from './mount-endpoint.js'

export type AuditRoutesOptions = EventsEndpointOptions<FetchRequest> & UsernameOption<FetchRequest>

/**
 * Returns a fetch handler that serves the event feed: `GET` and `POST` at `path`, and the endpoints under it.
 * It returns undefined for other paths. Call it after authentication. Requests to it are not recorded.
 *
 * Rejects with the errors of the host's functions.
 */
export function auditRoutes(audit: EndpointAudit, options: AuditRoutesOptions = {}): FetchMount {
  const endpoint = eventsEndpoint(audit, options)
  declareMount(audit, { kind: 'feed', path: options.path ?? DEFAULT_PATH })
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

import { viewsEndpoint, type ViewsEndpointOptions } from '../../src/http/views/endpoint.js'
import type { ViewedAudit } from '../../src/http/views/handlers.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'
import { mountEndpoint } from './mount-endpoint.js'

export type ViewRoutesOptions = ViewsEndpointOptions<FetchRequest> & UsernameOption<FetchRequest>

/**
 * Returns a fetch handler by which users save named views of the audit page: `<path>` and everything under it. It returns undefined
 * for other paths. Call it after authentication. What users change is recorded as an event by the log; the requests are not recorded.
 *
 * Rejects with the errors of the host's functions.
 */
export function viewRoutes(audit: ViewedAudit, options: ViewRoutesOptions = {}): FetchMount {
  const endpoint = viewsEndpoint(audit, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

import {
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'
import { mountEndpoint } from './mount-endpoint.js'

export type LogRoutesOptions = LogsEndpointOptions<FetchRequest> & UsernameOption<FetchRequest>

/**
 * Returns a fetch handler that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): FetchMount {
  const endpoint = logsEndpoint(logs, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

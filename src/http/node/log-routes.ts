import { type EndpointLogs, logsEndpoint, type LogsEndpointOptions } from '../logs/endpoint.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import { mountEndpoint } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type LogRoutesOptions = LogsEndpointOptions<NodeRequest> & UsernameOption<NodeRequest>

/**
 * Serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`, and the list of
 * logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): NodeListener {
  const endpoint = logsEndpoint(logs, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

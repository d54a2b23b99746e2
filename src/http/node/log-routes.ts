import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../logs/endpoint.js'
import { declareMount } from '../mounts.js'
import { markAsOwn } from '../record/own-request.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import { respond, toRequest } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type LogRoutesOptions = LogsEndpointOptions<NodeRequest> & UsernameOption<NodeRequest>

/**
 * Serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at `<path>/events`, and the list of
 * logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): NodeListener {
  const endpoint = logsEndpoint(logs, options)
  declareMount(logs, { kind: 'logs', path: options.path ?? DEFAULT_LOGS_PATH })
  return function logRoutes(request, response, next) {
    const exchange = { request, response, next }
    respond(exchange, () => {
      const answer = endpoint(toRequest(exchange, () => usernameOf(request, options)))
      if (answer) markAsOwn(request)
      return answer
    })
  }
}

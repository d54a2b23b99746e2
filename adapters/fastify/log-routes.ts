import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { endpointPlugin } from './exchange.js'
import type { FastifyPlugin, FastifyRequest } from './fastify.js'

export type LogRoutesOptions = LogsEndpointOptions<FastifyRequest> & UsernameOption<FastifyRequest>

/**
 * Fastify plugin that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Registered as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): FastifyPlugin {
  const endpoint = logsEndpoint(logs, options)
  const path = options.path ?? DEFAULT_LOGS_PATH
  return endpointPlugin(endpoint, [path], (request) => usernameOf(request, options))
}

import {
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { mountEndpoint } from './exchange.js'
import { type HonoContext, type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'

export type LogRoutesOptions = LogsEndpointOptions<HonoContext> & UsernameOption

/**
 * Hono middleware that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): HonoMiddleware {
  const endpoint = logsEndpoint(logs, options)
  return mountEndpoint(endpoint, (context) => usernameOf(context, options))
}

import {
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { mountEndpoint, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'

export type LogRoutesOptions = LogsEndpointOptions<KoaContext> & UsernameOption

/**
 * Koa middleware that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): KoaMiddleware {
  const endpoint = logsEndpoint(logs, options)
  return mountEndpoint(endpoint, (ctx) => usernameOf(ctx, options))
}

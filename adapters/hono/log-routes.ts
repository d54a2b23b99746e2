import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { declareMount } from '../../src/http/mounts.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import { toRequest, toResponse } from './exchange.js'
import { type HonoContext, type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'

export type LogRoutesOptions = LogsEndpointOptions<HonoContext> & UsernameOption

/**
 * Hono middleware that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): HonoMiddleware {
  const endpoint = logsEndpoint(logs, options)
  declareMount(logs, { kind: 'logs', path: options.path ?? DEFAULT_LOGS_PATH })
  return async function logRoutes(context, next) {
    const request = toRequest(context, () => usernameOf(context, options))
    const response = endpoint(request)
    if (!response) return next()
    markAsOwn(context)
    return toResponse(context, request, await response)
  }
}

import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { declareMount } from '../../src/http/mounts.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import { sendResponse, toRequest, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'

export type LogRoutesOptions = LogsEndpointOptions<KoaContext> & UsernameOption

/**
 * Koa middleware that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): KoaMiddleware {
  const endpoint = logsEndpoint(logs, options)
  declareMount(logs, { kind: 'logs', path: options.path ?? DEFAULT_LOGS_PATH })
  return async function logRoutes(ctx, next) {
    const response = endpoint(toRequest(ctx, () => usernameOf(ctx, options)))
    if (!response) return next()
    markAsOwn(ctx.req)
    sendResponse(ctx, await response)
    return undefined
  }
}

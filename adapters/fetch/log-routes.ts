import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { declareMount } from '../../src/http/mounts.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'

export type LogRoutesOptions = LogsEndpointOptions<FetchRequest> & UsernameOption<FetchRequest>

/**
 * Returns a fetch handler that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Mounted as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): FetchMount {
  const endpoint = logsEndpoint(logs, options)
  declareMount(logs, { kind: 'logs', path: options.path ?? DEFAULT_LOGS_PATH })
  return async function logRoutes(request) {
    const findUsername = (): string | null => usernameOf(request, options)
    const received = new FetchHttpRequest<FetchRequest>({ context: request, request, findUsername })
    const response = endpoint(received)
    if (!response) return undefined
    markAsOwn(request)
    return respond(received, await response)
  }
}

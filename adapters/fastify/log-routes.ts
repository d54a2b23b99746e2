import {
  DEFAULT_LOGS_PATH,
  type EndpointLogs,
  logsEndpoint,
  type LogsEndpointOptions,
} from '../../src/http/logs/endpoint.js'
import { declareMount } from '../../src/http/mounts.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { mountEndpoint, toRequest } from './exchange.js'
import type { FastifyPlugin, FastifyRequest } from './fastify.js'

export type LogRoutesOptions = LogsEndpointOptions<FastifyRequest> & UsernameOption<FastifyRequest>

/**
 * Fastify plugin that serves many logs: the endpoints of each log at `<path>/<key>/events`, those of several logs at
 * `<path>/events`, and the list of logs at `path`. Registered as `auditRoutes`.
 */
export function logRoutes(logs: EndpointLogs, options: LogRoutesOptions = {}): FastifyPlugin {
  const endpoint = logsEndpoint(logs, options)
  const path = options.path ?? DEFAULT_LOGS_PATH
  declareMount(logs, { kind: 'logs', path })
  return function logRoutes(app, _options, done) {
    mountEndpoint(app, path, (request, reply) =>
      endpoint(toRequest(request, reply, () => usernameOf(request, options))),
    )
    done()
  }
}

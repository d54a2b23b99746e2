import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import {
  type HealthAudit,
  healthEndpoint,
  type HealthEndpointOptions,
} from '../../src/http/health.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import type { FetchMount, FetchRequest } from './fetch.js'

export type AuditHealthOptions = HealthEndpointOptions<FetchRequest>

/**
 * Returns a fetch handler for probes, such as those of Kubernetes: `GET /health/live` responds 200 as long as the
 * process serves requests, `GET /health/ready` responds 503 while the log cannot record or be read, else 200. It
 * returns undefined for other paths. Call it before authentication. Requests to it are not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): FetchMount {
  const endpoint = healthEndpoint(audit, options)
  return async function auditHealth(request) {
    const findUsername = (): null => null
    const received = new FetchHttpRequest<FetchRequest>({ context: request, request, findUsername })
    const response = endpoint(received)
    if (!response) return undefined
    markAsOwn(request)
    return respond(received, await response)
  }
}

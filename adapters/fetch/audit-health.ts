import {
  type HealthAudit,
  healthEndpoint,
  type HealthEndpointOptions,
} from '../../src/http/health.js'
import type { FetchMount, FetchRequest } from './fetch.js'
import { mountEndpoint } from './mount-endpoint.js'

export type AuditHealthOptions = HealthEndpointOptions<FetchRequest>

/**
 * Returns a fetch handler for probes, such as those of Kubernetes: `GET /health/live` responds 200 as long as the
 * process serves requests, `GET /health/ready` responds 503 while the log cannot record or be read, else 200. It
 * returns undefined for other paths. Call it before authentication. Requests to it are not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): FetchMount {
  const endpoint = healthEndpoint(audit, options)
  return mountEndpoint(endpoint, () => null)
}

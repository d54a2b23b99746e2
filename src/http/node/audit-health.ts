import { type HealthAudit, healthEndpoint, type HealthEndpointOptions } from '../health.js'
import { mountEndpoint } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type AuditHealthOptions = HealthEndpointOptions<NodeRequest>

/**
 * Answers probes, such as those of Kubernetes: `GET /health/live` with 200 as long as the process serves
 * requests, `GET /health/ready` with 503 while the log cannot record or be read, else with 200. Works as
 * middleware of Express and Connect under any mount path, and as a request listener of `node:http` that
 * responds 404 to other paths. Mount it before authentication. Requests to it are not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): NodeListener {
  const endpoint = healthEndpoint(audit, options)
  return mountEndpoint(endpoint, () => null)
}

import {
  type HealthAudit,
  healthEndpoint,
  type HealthEndpointOptions,
} from '../../src/http/health.js'
import { mountEndpoint } from './exchange.js'
import type { KoaContext, KoaMiddleware } from './koa.js'

export type AuditHealthOptions = HealthEndpointOptions<KoaContext>

/**
 * Koa middleware for probes, such as those of Kubernetes: `GET /health/live` responds 200 as long as the
 * process serves requests, `GET /health/ready` responds 503 while the log cannot record or be read, else 200.
 * Requests to other paths are passed to the next middleware. Mount it before authentication. Requests to it
 * are not recorded.
 */
export function auditHealth(audit: HealthAudit, options: AuditHealthOptions = {}): KoaMiddleware {
  const endpoint = healthEndpoint(audit, options)
  return mountEndpoint(endpoint, () => null)
}

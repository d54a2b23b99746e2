import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { respond, toRequest, type UsernameOption, usernameOf } from './exchange.js'
import type { NodeListener } from './node.js'

export type AuditPageOptions = PageOptions & UsernameOption

/**
 * Serves the audit history page at `path`, from files of this package, under a strict content security
 * policy. The page reads the feed that {@link auditRoutes} serves of the same log, as the user who looks
 * at it. Middleware of Express and Connect, under whatever mount path; and a request listener of
 * `node:http`, which answers other paths with 404. Mount it behind authentication.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): NodeListener {
  const endpoint = pageEndpoint(audit, options)
  return function auditPage(request, response, next) {
    const exchange = { request, response, next }
    respond(exchange, () => endpoint(toRequest(exchange, () => usernameOf(request, options))))
  }
}

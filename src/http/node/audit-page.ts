import { type AuditPageOptions as PageOptions, type PageAudit, pageEndpoint } from '../page/page.js'
import { type UsernameOption, usernameOf } from '../username-option.js'
import { mountEndpoint } from './exchange.js'
import type { NodeListener, NodeRequest } from './node.js'

export type AuditPageOptions = PageOptions & UsernameOption<NodeRequest>

/**
 * Serves the audit history page at `path`, from files of this package, with a strict content security
 * policy. The page reads the feed that {@link auditRoutes} serves for the same log, with the rights of its
 * user. Works as middleware of Express and Connect under any mount path, and as a request listener of
 * `node:http` that responds 404 to other paths. Mount it after authentication.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): NodeListener {
  const endpoint = pageEndpoint(audit, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

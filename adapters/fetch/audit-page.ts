import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'
import { mountEndpoint } from './mount-endpoint.js'

export type AuditPageOptions = PageOptions & UsernameOption<FetchRequest>

/**
 * Returns a fetch handler that serves the audit history page at `path`, from files of this package, with a strict
 * content security policy. It returns undefined for other paths. The page reads the feed that {@link auditRoutes}
 * serves for the same log, with the rights of its user. Call it after authentication. Requests to it are not
 * recorded.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): FetchMount {
  const endpoint = pageEndpoint(audit, options)
  return mountEndpoint(endpoint, (request) => usernameOf(request, options))
}

import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { mountEndpoint } from './exchange.js'
import { type HonoMiddleware, type UsernameOption, usernameOf } from './hono.js'

export type AuditPageOptions = PageOptions & UsernameOption

/**
 * Hono middleware that serves the audit history page at `path`, from files of this package, with a strict
 * content security policy. The page reads the feed that {@link auditRoutes} serves for the same log, with
 * the rights of its user. Requests to other paths are passed to the next middleware. Mount it after
 * authentication. Requests to it are not recorded.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): HonoMiddleware {
  const endpoint = pageEndpoint(audit, options)
  return mountEndpoint(endpoint, (context) => usernameOf(context, options))
}

import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { mountEndpoint, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaMiddleware } from './koa.js'

export type AuditPageOptions = PageOptions & UsernameOption

/**
 * Koa middleware that serves the audit history page at `path`, from files of this package, with a strict
 * content security policy. The page reads the feed that {@link auditRoutes} serves for the same log, with
 * the rights of its user. Requests to other paths are passed to the next middleware. Mount it after
 * authentication. Requests to it are not recorded.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): KoaMiddleware {
  const endpoint = pageEndpoint(audit, options)
  return mountEndpoint(endpoint, (ctx) => usernameOf(ctx, options))
}

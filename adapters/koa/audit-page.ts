import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { sendResponse, toRequest, type UsernameOption, usernameOf } from './exchange.js'
import type { KoaMiddleware } from './koa.js'
import { markAsOwn } from './unrecorded.js'

export type AuditPageOptions = PageOptions & UsernameOption

/**
 * Koa middleware that serves the audit history page at `path`, from files of this package, under a
 * strict content security policy. The page reads the feed that {@link auditRoutes} serves of the same
 * log, as the user who looks at it. Other paths go on to the next middleware. Mount it behind
 * authentication. No request to it is recorded.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): KoaMiddleware {
  const endpoint = pageEndpoint(audit, options)
  return async function auditPage(ctx, next) {
    const response = endpoint(toRequest(ctx, () => usernameOf(ctx, options)))
    if (!response) return next()
    markAsOwn(ctx)
    sendResponse(ctx, await response)
    return undefined
  }
}

import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import { sendResponse, toRequest, type UsernameOption, usernameOf } from './exchange.js'
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
  return async function auditPage(ctx, next) {
    const response = endpoint(toRequest(ctx, () => usernameOf(ctx, options)))
    if (!response) return next()
    markAsOwn(ctx.req)
    sendResponse(ctx, await response)
    return undefined
  }
}

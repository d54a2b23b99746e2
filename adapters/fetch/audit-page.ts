import { FetchHttpRequest, respond } from '../../src/http/fetch/exchange.js'
import {
  type AuditPageOptions as PageOptions,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { markAsOwn } from '../../src/http/record/own-request.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import type { FetchMount, FetchRequest } from './fetch.js'

export type AuditPageOptions = PageOptions & UsernameOption<FetchRequest>

/**
 * Returns a fetch handler that serves the audit history page at `path`, from files of this package, with a strict
 * content security policy. It returns undefined for other paths. The page reads the feed that {@link auditRoutes}
 * serves for the same log, with the rights of its user. Call it after authentication. Requests to it are not
 * recorded.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): FetchMount {
  const endpoint = pageEndpoint(audit, options)
  return async function auditPage(request) {
    const findUsername = (): string | null => usernameOf(request, options)
    const received = new FetchHttpRequest({ context: request, request, findUsername })
    const response = endpoint(received)
    if (!response) return undefined
    markAsOwn(request)
    return respond(received, await response)
  }
}

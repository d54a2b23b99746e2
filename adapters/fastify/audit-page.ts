import {
  type AuditPageOptions as PageOptions,
  DEFAULT_PAGE_PATH,
  type PageAudit,
  pageEndpoint,
} from '../../src/http/page/page.js'
import { type UsernameOption, usernameOf } from '../../src/http/username-option.js'
import { endpointPlugin } from './exchange.js'
import type { FastifyPlugin, FastifyRequest } from './fastify.js'

export type AuditPageOptions = PageOptions & UsernameOption<FastifyRequest>

/**
 * Fastify plugin that serves the audit history page at `path`, from files of this package, with a strict
 * content security policy. The page reads the feed that {@link auditRoutes} serves for the same log, with
 * the rights of its user. Register it after authentication. Requests to it are not recorded.
 */
export function auditPage(audit: PageAudit, options: AuditPageOptions = {}): FastifyPlugin {
  const endpoint = pageEndpoint(audit, options)
  const path = (options.path ?? DEFAULT_PAGE_PATH).replace(/\/+$/, '')
  return endpointPlugin(endpoint, [path], (request) => usernameOf(request, options))
}

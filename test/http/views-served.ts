import { AuditLog, type AuditEvent, type EventStore } from 'daybook'
import { viewRoutes, type ViewRoutesOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import type { RawRequest } from '../support/http.js'
import { viewsCheck } from '../support/openapi.js'
import { resourceOf, type RoutesServer, serveRoutes, withResource } from './managing.js'

/* A service whose users save views over HTTP. */

export { namesOf, REMOVAL, resourceOf as viewOf } from './managing.js'

export const VIEWS = '/api/views'

export const newView = (attributes: object): RawRequest => withResource('POST', 'view', attributes)
export const viewChange = (attributes: object): RawRequest =>
  withResource('PATCH', 'view', attributes)

export interface ViewsServer extends RoutesServer {
  readonly audit: AuditLog
  /** Creates a view and returns its path. */
  create(attributes: object, user?: string): Promise<string>
  /** All events, oldest first. */
  events(): Promise<readonly AuditEvent[]>
}

/**
 * Serves views. By default all users may do everything with their views. The service is closed at the end of the
 * test.
 */
export async function serveViews(
  options: ViewRoutesOptions = { authorize: () => true },
  store: EventStore = memoryStore(),
): Promise<ViewsServer> {
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const check = viewsCheck(options.path ?? VIEWS)
  const server = await serveRoutes(audit, viewRoutes(audit, options), check)
  return {
    ...server,
    audit,
    async create(attributes, user = 'ann') {
      const made = await server.send(VIEWS, { ...newView(attributes), user })
      if (made.status !== 201) throw new Error(made.body)
      return resourceOf(made).links.self
    },
    events: async () => (await audit.list({ limit: 1000 })).events,
  }
}

import { AuditLog, type AuditEvent, type EventStore } from 'daybook'
import { basicAuth, recordRequests, viewRoutes, type ViewRoutesOptions } from 'daybook/koa'
import { memoryStore } from 'daybook/memory'
import Koa from 'koa'
import { onTestFinished } from 'vitest'
import {
  checkAnswersBy,
  JSON_API,
  type RawRequest,
  type RawResponse,
  send,
} from '../support/http.js'
import { listen } from '../support/node-server.js'
import { viewsCheck } from '../support/openapi.js'

/* A service whose users save views over HTTP. */

export const VIEWS = '/api/views'

export interface ViewResource {
  readonly type: string
  readonly id: string
  readonly attributes: Readonly<Record<string, unknown>>
  readonly links: { readonly self: string }
}

export const viewOf = ({ body }: RawResponse): ViewResource =>
  (JSON.parse(body) as { data: ViewResource }).data

export const namesOf = ({ body }: RawResponse): unknown[] =>
  (JSON.parse(body) as { data: ViewResource[] }).data.map(({ attributes }) => attributes['name'])

const withView = (method: 'POST' | 'PATCH', attributes: object): RawRequest => ({
  method,
  headers: { 'content-type': JSON_API },
  body: JSON.stringify({ data: { type: 'view', attributes } }),
})

export const newView = (attributes: object): RawRequest => withView('POST', attributes)
export const viewChange = (attributes: object): RawRequest => withView('PATCH', attributes)
export const REMOVAL: RawRequest = { method: 'DELETE' }

export interface ViewsServer {
  readonly audit: AuditLog
  readonly url: string
  /** Errors that reached Koa. */
  readonly errors: unknown[]
  /** Sends a request as `ann`. Each response has to be one that the OpenAPI document declares. */
  send(path: string, request?: RawRequest): Promise<RawResponse>
  /** Creates a view and returns its path. */
  create(attributes: object, user?: string): Promise<string>
  /** All events, oldest first. */
  events(): Promise<readonly AuditEvent[]>
}

/** By default all users may do everything with their own views. It is closed at the end of the test. */
export async function serveViews(
  options: ViewRoutesOptions = { authorize: () => true },
  store: EventStore = memoryStore(),
): Promise<ViewsServer> {
  const errors: unknown[] = []
  const audit: AuditLog = new AuditLog({ store, types: {} })
  const app = new Koa()
  app.silent = true
  app.on('error', (error: unknown) => errors.push(error))
  app.use(recordRequests(audit))
  app.use(basicAuth({ users: { ann: 'ann', bob: 'bob', eve: 'eve' } }))
  app.use(viewRoutes(audit, options))
  const { url, close } = await listen(app.callback())
  const endChecks = checkAnswersBy(url, viewsCheck(options.path ?? VIEWS))
  onTestFinished(async () => {
    endChecks()
    await close()
    await audit.close()
  })
  return {
    audit,
    url,
    errors,
    send: (path, request) => send(url, path, request),
    async create(attributes, user = 'ann') {
      const made = await send(url, VIEWS, { ...newView(attributes), user })
      if (made.status !== 201) throw new Error(made.body)
      return viewOf(made).links.self
    },
    events: async () => (await audit.list({ limit: 1000 })).events,
  }
}

import type { AuditEvent, AuditLog } from 'daybook'
import type { AuditRoutesOptions, EventsAction } from 'daybook/koa'
import type { Context, Middleware } from 'koa'
import { onTestFinished } from 'vitest'
import {
  checkAnswers,
  listOf,
  newEvent,
  type RawRequest,
  type RawResponse,
  serve,
  type TestServer,
} from '../support/http.js'
import { listen } from '../support/node-server.js'

export const PATH = '/api/events'

export interface AccessServer extends TestServer {
  /** Errors that reached Koa. */
  readonly errors: unknown[]
  /** Errors that Koa emitted, including errors of responses that had begun. */
  readonly emitted: unknown[]
  /** Records an event of a user. */
  record(username: string, attributes?: object): Promise<AuditEvent>
}

/** A feed with these options. It is closed at the end of the test. */
export async function startFeed(feed: AuditRoutesOptions): Promise<AccessServer> {
  const errors: unknown[] = []
  const emitted: unknown[] = []
  const noting: Middleware = async (ctx, next) => {
    ctx.app.removeAllListeners('error').on('error', (error: unknown) => emitted.push(error))
    try {
      await next()
    } catch (error) {
      errors.push(error)
      throw error
    }
  }
  const server = await serve({ feed, record: false, outside: [noting] })
  onTestFinished(() => server.close())
  return {
    ...server,
    errors,
    emitted,
    record: (username, attributes = {}) =>
      server.audit.recordCustom('note', attributes, { username }) as Promise<AuditEvent>,
  }
}

/** Each user sees only their own events. */
export const own = (ctx: Context): { username_eq: string } => ({
  username_eq: String(ctx.state['username']),
})

/** The attribute `text` of each event of a list. */
export const textsOf = (response: RawResponse): unknown[] =>
  listOf(response).data.map(({ attributes }) => attributes['text'])

const searched: RawRequest = {
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: 'q=-nothing',
}

/** One request to each endpoint. Requests for a single event use this id. */
export const requests = (
  id: string,
): [action: EventsAction, path: string, request: RawRequest][] => [
  ['list', PATH, {}],
  ['list', PATH, { method: 'HEAD' }],
  ['read', `${PATH}/${id}`, {}],
  ['read', `${PATH}/${id}`, { method: 'HEAD' }],
  ['describe', `${PATH}/openapi.json`, {}],
  ['stream', `${PATH}/stream`, { method: 'HEAD' }],
  ['count', `${PATH}/counts`, {}],
  ['list', `${PATH}/search`, searched],
  ['count', `${PATH}/counts`, searched],
  ['count', `${PATH}/groups?by=type`, {}],
  ['export', `${PATH}/export`, {}],
  ['export', `${PATH}/export`, { method: 'HEAD' }],
  ['export', `${PATH}/report`, {}],
  ['list', `${PATH}/history?source=/api/none`, {}],
  ['types', `${PATH}/types`, {}],
  ['create', PATH, newEvent({ type: 'x' })],
]

/** Serves a log with its endpoints at a path. Both are closed at the end of the test. */
export async function serveMounted(
  listener: Parameters<typeof listen>[0],
  audit: AuditLog,
  path = PATH,
): Promise<string> {
  const { url, close } = await listen(listener)
  const endChecks = checkAnswers(url, audit, path)
  onTestFinished(async () => {
    endChecks()
    await close()
    await audit.close()
  })
  return url
}

import type { AuditLog } from '../audit-log.js'
import { olderThan } from '../filter/ast.js'
import { formatQuery } from '../filter/format.js'
import { parseQuery } from '../filter/parse.js'
import { eventDocument, eventsDocument } from './documents.js'
import type { HttpRequest, HttpResponse } from './exchange.js'
import { checkAccept, checkMediaType, json } from './media.js'
import { inDocument, readNewEvent } from './new-event.js'
import { errorResponse, HttpProblem } from './problem.js'

/** What the endpoints need of an audit log. */
export type EndpointAudit = Pick<AuditLog, 'list' | 'get' | 'recordCustom' | 'limits'>

export interface EventsEndpointOptions {
  /** Where the endpoints are: `<path>` and `<path>/<event id>`. @default '/api/events' */
  readonly path?: string
  /** Realm of the challenge that goes with a 401. @default 'Daybook' */
  readonly realm?: string
}

/** Answers a request to the events endpoints; `undefined`, at once, for a path that is not theirs. */
export type EventsEndpoint = (request: HttpRequest) => Promise<HttpResponse> | undefined

type Handler = (request: HttpRequest) => Promise<HttpResponse>

export const challenge = (realm: string): Record<string, string> => ({
  'www-authenticate': `Basic realm="${realm.replaceAll(/["\\]/g, '\\$&')}", charset="UTF-8"`,
})

/** Whether a path is the mount path or lies under it. */
export function isUnder(path: string, mount: string): boolean {
  return path === mount || path.startsWith(`${mount}/`)
}

export const DEFAULT_PATH = '/api/events'

/**
 * `GET <path>`, `POST <path>` and `GET <path>/<id>` as the interface's sections "Endpoints" and
 * "Errors" ask, as functions from a request to a response that any HTTP server can mount.
 */
export function eventsEndpoint(
  audit: EndpointAudit,
  options: EventsEndpointOptions = {},
): EventsEndpoint {
  const { path = DEFAULT_PATH, realm = 'Daybook' } = options

  const list: Handler = async (request) => {
    checkAccept(request.header('accept'))
    const query = parseQuery(request.query, { strict: true })
    const { events, truncated } = await audit.list(query)
    const self = request.query === '' ? path : `${path}?${request.query}`
    if (!truncated) return json(200, eventsDocument(events, path, { self }))
    if (query.sorts.length > 0) return json(206, eventsDocument(events, path, { self }))
    const where = olderThan(query.where, events[0]!.created_at)
    const prev = `${path}?${formatQuery({ ...query, where })}`
    return json(206, eventsDocument(events, path, { self, prev }))
  }

  const create: Handler = async (request) => {
    checkMediaType(request.header('content-type'))
    const { maxBytes, maxDepth } = audit.limits
    const { type, attributes } = readNewEvent(await request.body(maxBytes), maxDepth)
    const { username } = request
    const event = await audit
      .recordCustom(type, attributes, { username })
      .catch((error: unknown) => {
        throw inDocument(error)
      })
    const headers = event ? { location: `${path}/${event.id}` } : {}
    return { status: 201, headers, body: undefined }
  }

  const read =
    (id: string): Handler =>
    async (request) => {
      checkAccept(request.header('accept'))
      const event = await audit.get(id)
      if (!event) throw new HttpProblem('NOT_FOUND', `there is no event ${JSON.stringify(id)}`)
      return json(200, eventDocument(event, path))
    }

  const handlersOf = (requestPath: string): Readonly<Record<string, Handler>> | undefined => {
    if (!isUnder(requestPath, path)) return undefined
    if (requestPath.length <= path.length + 1) return { GET: list, HEAD: list, POST: create }
    const one = read(requestPath.slice(path.length + 1))
    return { GET: one, HEAD: one }
  }

  const answer = async (
    request: HttpRequest,
    handlers: Readonly<Record<string, Handler>>,
  ): Promise<HttpResponse> => {
    try {
      if (request.username === null)
        throw new HttpProblem('UNAUTHENTICATED', 'send user name and password', {
          headers: challenge(realm),
        })
      const handler = handlers[request.method]
      if (handler) return await handler(request)
      const allow = Object.keys(handlers).join(', ')
      throw new HttpProblem('METHOD_NOT_ALLOWED', `${request.path} takes ${allow}`, {
        headers: { allow },
      })
    } catch (error) {
      return errorResponse(error)
    }
  }

  return (request) => {
    const handlers = handlersOf(request.path)
    return handlers && answer(request, handlers)
  }
}

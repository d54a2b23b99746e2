import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint, HttpRequest, HttpResponse } from '../exchange.js'
import type { FindUsername } from '../mounting/mounts.js'
import { createRequest, readBody, readTarget } from '../node-request.js'
import { HttpProblem, problemResponse } from '../problem.js'
import { sendStream } from '../send-stream.js'
import { responseHeaders } from '../response-headers.js'
import { thrownError, thrownErrorOfRealm } from '../thrown-error.js'
import type { Next, NodeListener, NodeRequest } from './node.js'
import type { SentRequest } from './recorded-exchange.js'
import { isBytes } from '../../event/realm.js'
import { warnThrown } from '../../async/warn.js'

/** A request, its response, and the next handler. */
export interface NodeExchange {
  readonly request: NodeRequest
  readonly response: ServerResponse
  readonly next: Next | undefined
}

/** A request as the framework has it, and as `node:http` has it. */
interface Received<Request extends SentRequest> {
  readonly request: Request
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
}

export function toRequest<Request extends SentRequest>(
  { request, incoming, response }: Received<Request>,
  findUsername: () => string | null,
): HttpRequest<Request> {
  return createRequest({
    context: request,
    response,
    findUsername,
    method: request.method ?? '',
    ...readTarget(request.originalUrl ?? request.url ?? ''),
    header: (name) => String(request.headers[name] ?? ''),
    body: (maxBytes) => readBody(incoming, request, maxBytes),
  })
}

const FAILED = 'the request failed; the process warnings of the service say why'

/** RFC 9110, section 8.6. */
const hasLength = (status: number): boolean => status !== 204 && status !== 304

export async function sendResponse(
  {
    request,
    response,
  }: { readonly request: { readonly method?: string | undefined }; response: ServerResponse },
  { status, headers: given, body = '' }: HttpResponse,
): Promise<void> {
  const headers = responseHeaders(response, given)
  if (typeof body === 'string' || isBytes(body)) {
    const length = hasLength(status) ? { 'content-length': Buffer.byteLength(body) } : {}
    response.writeHead(status, { ...headers, ...length })
    response.end(request.method === 'HEAD' ? undefined : body)
    return
  }
  response.writeHead(status, headers)
  await sendStream(response, body)
}

/**
 * Passes a thrown value to `next`, as an error: other values make servers run the next handler. A `next` without parameters
 * would ignore it, so then, or without a `next`, the error becomes a process warning and the response is 500.
 */
export async function fail(exchange: NodeExchange, thrown: unknown): Promise<void> {
  const { response, next } = exchange
  if (next && next.length > 0) {
    next(thrownError(thrown))
    return
  }
  warnThrown(thrownErrorOfRealm(thrown))
  if (response.headersSent) response.destroy()
  else await sendResponse(exchange, problemResponse(new HttpProblem('INTERNAL_ERROR', FAILED)))
}

type Handler = () => HttpResponse | undefined | Promise<HttpResponse | undefined>

async function respondOrContinue(
  exchange: NodeExchange,
  handle: Handler,
  proceed: () => void,
): Promise<void> {
  try {
    const response = await handle()
    if (response) return await sendResponse(exchange, response)
  } catch (error) {
    return fail(exchange, error)
  }
  // Outside `try`: the next handler deals with its own errors.
  return proceed()
}

/** Sends the response of `handle`. If there is none, calls `proceed`: `next`, or a 404 without it. */
export function respond(
  exchange: NodeExchange,
  handle: Handler,
  proceed = (): void => callNext(exchange),
): void {
  void respondOrContinue(exchange, handle, proceed)
}

function callNext(exchange: NodeExchange): void {
  const { request, next } = exchange
  if (next) return next()
  const problem = new HttpProblem('NOT_FOUND', `there is nothing at ${request.url ?? ''}`)
  return void sendResponse(exchange, problemResponse(problem))
}

/** A listener that serves an endpoint, and passes other requests on. */
export function mount(
  endpoint: Endpoint<NodeRequest>,
  findUsername: FindUsername<NodeRequest>,
): NodeListener {
  return function mountedEndpoint(request, response, next) {
    const exchange = { request, response, next }
    const received = { request, incoming: request, response }
    respond(exchange, () => endpoint(toRequest(received, () => findUsername(request))))
  }
}

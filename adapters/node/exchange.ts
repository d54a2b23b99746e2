import type { ServerResponse } from 'node:http'
import { inspect } from 'node:util'
import type { HttpRequest, HttpResponse } from '../../src/http/exchange.js'
import { readBody, readTarget, disconnectSignal } from '../../src/http/node-request.js'
import { HttpProblem, problemResponse } from '../../src/http/problem.js'
import { sendStream } from '../../src/http/send-stream.js'
import { mergeVary } from '../../src/http/vary.js'
import type { Next, NodeRequest } from './node.js'

/** A request, the response to it, and what answers where this does not. */
export interface NodeExchange {
  readonly request: NodeRequest
  readonly response: ServerResponse
  readonly next: Next | undefined
}

export interface UsernameOption {
  /**
   * The authenticated user of a request, null where there is none.
   * @default `request.username`, as {@link basicAuth} sets it
   */
  username?(request: NodeRequest): string | null
}

export function usernameOf(request: NodeRequest, options: UsernameOption): string | null {
  if (options.username) return options.username(request)
  const { username } = request
  return typeof username === 'string' ? username : null
}

export function toRequest(
  { request, response }: NodeExchange,
  username: () => string | null,
): HttpRequest<NodeRequest> {
  let gone: AbortSignal | undefined
  return {
    context: request,
    get username() {
      return username()
    },
    // Few requests ask, so that the others need not pay for it.
    get signal() {
      return (gone ??= disconnectSignal(response))
    },
    method: request.method ?? '',
    ...readTarget(request.originalUrl ?? request.url ?? ''),
    header: (name) => String(request.headers[name] ?? ''),
    body: (maxBytes) => readBody(request, request, maxBytes),
  }
}

const FAILED = 'the service could not answer; its own warnings say why'

/** RFC 9110, section 8.6. */
const hasLength = (status: number): boolean => status !== 204 && status !== 304

async function sendResponse(
  { request, response }: NodeExchange,
  { status, headers: given, body = '' }: HttpResponse,
): Promise<void> {
  const headers = mergeVary(response, given)
  if (typeof body === 'string' || body instanceof Uint8Array) {
    const length = hasLength(status) ? { 'content-length': Buffer.byteLength(body) } : {}
    response.writeHead(status, { ...headers, ...length })
    response.end(request.method === 'HEAD' ? undefined : body)
    return
  }
  response.writeHead(status, headers)
  await sendStream(response, body)
}

/**
 * The error goes to `next`. Where nothing there takes it, it becomes a process warning, and the answer is
 * 500: a `next` without parameters would go on as if all were well.
 */
async function fail(exchange: NodeExchange, error: unknown): Promise<void> {
  const { response, next } = exchange
  if (next && next.length > 0) {
    next(error)
    return
  }
  process.emitWarning(error instanceof Error ? error : new Error(inspect(error)))
  if (response.headersSent) response.destroy()
  else await sendResponse(exchange, problemResponse(new HttpProblem('INTERNAL_ERROR', FAILED)))
}

type Answer = () => HttpResponse | undefined | Promise<HttpResponse | undefined>

async function answerOr(exchange: NodeExchange, answer: Answer, goOn: () => void): Promise<void> {
  try {
    const response = await answer()
    if (response) return await sendResponse(exchange, response)
  } catch (error) {
    return fail(exchange, error)
  }
  // Outside: what follows answers its own errors.
  return goOn()
}

/** Sends what `answer` gives; where that is nothing, goes on: with `next`, else with a 404. */
export function respond(
  exchange: NodeExchange,
  answer: Answer,
  goOn = (): void => passOn(exchange),
): void {
  void answerOr(exchange, answer, goOn)
}

function passOn(exchange: NodeExchange): void {
  const { request, next } = exchange
  if (next) return next()
  const nothing = new HttpProblem('NOT_FOUND', `there is nothing at ${request.url ?? ''}`)
  return void sendResponse(exchange, problemResponse(nothing))
}

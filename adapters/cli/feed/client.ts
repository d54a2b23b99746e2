import { abortedError, throwIfAborted } from '../../../src/errors.js'
import { CommandError } from '../terminal/exit-codes.js'
import { authorizationOf, type Credentials, resolveUrl } from './address.js'
import { failureOf, isJson, unreachable, withoutQuery } from './failures.js'

const TEXT = 'text/plain'
export const JSON_API = 'application/vnd.api+json'

/** Time limit for a response. It is longer than the time limit of queries on a server. */
const ANSWER_TIMEOUT_MS = 60_000
const MAX_REDIRECTS = 5

export interface FeedRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as a JSON:API document. */
  readonly document?: object
  /** Sent as a form. */
  readonly form?: string
  readonly signal?: AbortSignal | undefined
  /** Time limit of the answer, in milliseconds. @default a minute */
  readonly timeoutMs?: number
}

export interface Answer<Document> {
  readonly status: number
  readonly document: Document
}

/** Sends requests to one host. */
export interface FeedClient {
  /**
   * Resolves to the response, whatever its status. Rejects with `CommandError` without a response, and with `ABORTED`
   * if the signal aborts.
   */
  send(url: string, request?: FeedRequest): Promise<Response>
  /** The response, if its status is below 300. Rejects as {@link failureOf} says. */
  request(url: string, request?: FeedRequest): Promise<Response>
  /** Like `request`, but resolves to the JSON:API document of the response. */
  document<Document>(url: string, request?: FeedRequest): Promise<Answer<Document>>
  /** Like `request`, but resolves to the plain text of the response. */
  text(url: string, request?: FeedRequest): Promise<string>
}

/** Asks for missing credentials; `undefined` without a terminal. */
export type AskCredentials = (known: Credentials) => Promise<Credentials | undefined>

export function createClient(given: Credentials, ask: AskCredentials): FeedClient {
  let credentials = given
  let hasAsked = false

  async function send(url: string, request: FeedRequest = {}): Promise<Response> {
    const response = await follow(url, request, authorizationOf(credentials))
    if (response.status !== 401 || hasAsked) return response
    hasAsked = true
    const answer = authorizationOf(credentials) ? undefined : await ask(credentials)
    if (!answer) return response
    await response.body?.cancel()
    credentials = answer
    return follow(url, request, authorizationOf(credentials))
  }

  async function request(url: string, options?: FeedRequest): Promise<Response> {
    const response = await send(url, options)
    if (response.ok) return response
    if (response.status === 401 && !authorizationOf(credentials))
      throw new CommandError(
        'forbidden',
        `${withoutQuery(url)} asks for a user: set DAYBOOK_USER and DAYBOOK_PASSWORD, or DAYBOOK_TOKEN`,
      )
    throw await failureOf(response)
  }

  return {
    send,
    request,
    async document<Document>(url: string, options?: FeedRequest) {
      const response = await request(url, options)
      const document = await readDocument<Document>(response, options?.signal)
      return { status: response.status, document }
    },
    async text(url, options) {
      const response = await request(url, { ...options, headers: { accept: TEXT } })
      if (!response.headers.get('content-type')?.startsWith(TEXT)) throw await failureOf(response)
      try {
        return await response.text()
      } catch (error) {
        throwIfAborted(options?.signal)
        throw unreachable(url, error)
      }
    },
  }
}

/** The JSON:API document of a response. Without a document, rejects with the error of {@link failureOf}. */
export async function readDocument<Document>(
  response: Response,
  signal: AbortSignal | undefined,
): Promise<Document> {
  if (!response.ok || !isJson(response)) throw await failureOf(response)
  try {
    return (await response.json()) as Document
  } catch (error) {
    throwIfAborted(signal)
    if (error instanceof SyntaxError)
      throw new CommandError('failed', `${withoutQuery(response.url)} has sent broken JSON`)
    throw unreachable(response.url, error)
  }
}

/** Follows redirects within the same origin. The credentials are not sent to other origins. */
async function follow(
  url: string,
  request: FeedRequest,
  authorization: string | undefined,
): Promise<Response> {
  let at = url
  for (let redirects = 0; ; redirects++) {
    const response = await sendOnce(at, request, authorization)
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || response.status === 304 || !location)
      return response
    await response.body?.cancel()
    const next = resolveUrl(location, at)
    const isSame = next?.origin === new URL(at).origin
    if (!isSame || redirects === MAX_REDIRECTS || (request.method ?? 'GET') === 'POST')
      throw new CommandError(
        'usage',
        `${withoutQuery(at)} leads to ${withoutQuery(next?.href ?? location)}, which is not followed: give that address`,
      )
    at = next.href
  }
}

/** Errors of a kept connection that the server closed while the request was on its way. */
const STALE = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const isStale = (error: unknown): boolean =>
  STALE.has(String((error as { cause?: { code?: unknown } }).cause?.code))

/** Like `fetch`. Repeats a request that changes nothing if its connection was stale (RFC 9112, section 9.3.1). */
async function fetchAnswer(url: string, request: RequestInit): Promise<Response> {
  try {
    return await fetch(url, request)
  } catch (error) {
    if (request.method === 'POST' || !isStale(error)) throw error
    return fetch(url, request)
  }
}

async function sendOnce(
  url: string,
  { method = 'GET', headers, document, form, signal, timeoutMs = ANSWER_TIMEOUT_MS }: FeedRequest,
  authorization: string | undefined,
): Promise<Response> {
  const timeout = new AbortController()
  const timer = setTimeout(
    () =>
      timeout.abort(new Error(`the server has not answered within ${timeoutMs / 1000} seconds`)),
    timeoutMs,
  )
  try {
    return await fetchAnswer(url, {
      method,
      headers: {
        accept: JSON_API,
        'accept-language': 'en',
        ...(authorization && { authorization }),
        ...(document && { 'content-type': JSON_API }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      body: document ? JSON.stringify(document) : (form ?? null),
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    })
  } catch (error) {
    if (signal?.aborted) throw abortedError(signal)
    throw unreachable(url, error)
  } finally {
    clearTimeout(timer)
  }
}

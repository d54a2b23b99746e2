import http from 'node:http'
import https from 'node:https'
import { timeoutSignal } from '../../src/async/timeout-signal.js'
import { DeliveryError } from '../../src/subscriptions/channel.js'
import type { ConnectionOptions, Dispatcher } from './connections.js'

export interface PostOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Sends requests over connections that stay open. */
export type Post = (options: PostOptions) => Promise<void>

/** Agents that open the connections, by protocol. */
export interface Agents {
  readonly 'http:': http.Agent
  readonly 'https:': http.Agent
}

export const AGENT_OPTIONS = { keepAlive: true } as const

/** Number of bytes of a response that are read, so that its connection can be used again. */
const MAX_RESPONSE_BYTES = 4096

const REQUESTS = { 'http:': http.request, 'https:': https.request } as const

interface Answer {
  readonly status: number
  readonly retryAfter: string | undefined
  readonly body: AsyncIterable<unknown>
}

type Send = (request: Pick<PostOptions, 'url' | 'headers' | 'body' | 'signal'>) => Promise<Answer>

/** Sends the request with an agent. By default this is the global agent, which a host may replace. */
const byAgent =
  (agentOf: (protocol: keyof Agents) => http.Agent | undefined): Send =>
  ({ url, headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const protocol = url.protocol as keyof Agents
      const options = { method: 'POST', agent: agentOf(protocol), headers, signal }
      const sent = REQUESTS[protocol](url, options, (response) =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'],
          body: response,
        }),
      )
      sent.on('error', reject)
      // A receiver that switches to another protocol ends the request without an error.
      sent.on('close', () => reject(new Error('the connection was closed')))
      sent.end(body)
    })

const byDispatcher =
  (dispatcher: Dispatcher): Send =>
  async ({ url, headers, body, signal }) => {
    const { origin, pathname, search } = url
    const path = pathname + search
    const sent = { origin, path, method: 'POST', headers, body, signal } as const
    const { statusCode: status, headers: received, body: content } = await dispatcher.request(sent)
    return { status, retryAfter: [received['retry-after']].flat()[0], body: content }
  }

/** Posts over the connections of the host's options. */
export const createPost = ({ agent, dispatcher }: ConnectionOptions = {}): Post =>
  postBy(dispatcher ? byDispatcher(dispatcher) : byAgent(() => agent))

/** Posts over connections of these agents only. */
export const postByAgents = (agents: Agents): Post =>
  postBy(byAgent((protocol) => agents[protocol]))

// Faults name only the server, because paths and queries of such URLs often hold secrets.
const serverOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

/** Rejects with a `DeliveryError` unless the response has a status from 200 to 299. Redirects are not followed. */
function postBy(send: Send): Post {
  return async ({ url, headers, body, timeoutMs, signal }) => {
    const fixed = { 'content-length': String(body.length), 'user-agent': 'daybook' }
    using timeout = timeoutSignal(timeoutMs, signal)
    let answer: Answer
    try {
      answer = await send({ url, headers: { ...headers, ...fixed }, body, signal: timeout.signal })
      await skip(answer.body)
    } catch (cause) {
      throw failureOf(cause, url, timeout.signal.aborted && !signal.aborted)
    }
    const { status, retryAfter } = answer
    if (status >= 200 && status < 300) return
    const retryAfterMs = readRetryAfter(retryAfter)
    // A redirect is a failure, too, because it could lead anywhere.
    throw new DeliveryError('status', `${serverOf(url)} responded with ${status}`, {
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
}

/** Reads the response to its end. Closes the connection of a response that is too long. */
async function skip(body: Answer['body']): Promise<void> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += (chunk as Buffer).length
    // Leaving the loop destroys the response.
    if (bytes > MAX_RESPONSE_BYTES) return
  }
}

/** Text in errors of request-filtering-agent, which have no code. */
const REFUSED_ADDRESS = /is not allowed/

export const addressFault = (url: URL, cause?: unknown): DeliveryError =>
  new DeliveryError('address', `${serverOf(url)}: its address is not allowed`, { cause })

function failureOf(cause: unknown, url: URL, isTimeout: boolean): DeliveryError {
  if (isTimeout)
    return new DeliveryError('timeout', `${serverOf(url)} did not respond in time`, { cause })
  if (cause instanceof Error && !('code' in cause) && REFUSED_ADDRESS.test(cause.message))
    return addressFault(url, cause)
  const code = (cause as NodeJS.ErrnoException | undefined)?.code ?? 'the connection failed'
  return new DeliveryError('network', `${serverOf(url)}: ${code}`, { cause })
}

/** Milliseconds of a `Retry-After`: seconds, or an HTTP date (RFC 9110, section 10.2.3). */
export function readRetryAfter(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const time = Date.parse(value)
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now())
}

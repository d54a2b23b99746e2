import http from 'node:http'
import https from 'node:https'
import { timeoutSignal } from '../../src/async/timeout-signal.js'
import { DeliveryError } from '../../src/subscriptions/channel.js'

export interface PostOptions {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Sends requests over connections that stay open. */
export type Post = (options: PostOptions) => Promise<void>

/** What opens the connections, by the protocol of the URL. */
export interface Agents {
  readonly 'http:': http.Agent
  readonly 'https:': https.Agent
}

export const AGENT_OPTIONS = { keepAlive: true } as const

/** How much of a response is read, so that its connection can be used again. */
const MAX_RESPONSE_BYTES = 4096

const REQUESTS = { 'http:': http.request, 'https:': https.request } as const

/** Connects to any address. */
const createAgents = (): Agents => ({
  'http:': new http.Agent(AGENT_OPTIONS),
  'https:': new https.Agent(AGENT_OPTIONS),
})

// Faults name the server only: paths and queries of such URLs often hold secrets.
const serverOf = ({ protocol, host }: URL): string => `${protocol}//${host}`

/** Rejects with a `DeliveryError` unless the response has a status from 200 to 299. Redirects are not followed. */
export function createPost(agents: Agents = createAgents()): Post {
  return async ({ url, headers, body, timeoutMs, signal }) => {
    const protocol = url.protocol as keyof Agents
    const fixed = { 'content-length': body.length, 'user-agent': 'daybook' }
    using timeout = timeoutSignal(timeoutMs, signal)
    let response: http.IncomingMessage
    try {
      response = await new Promise<http.IncomingMessage>((resolve, reject) => {
        const options = {
          method: 'POST',
          agent: agents[protocol],
          headers: { ...headers, ...fixed },
          signal: timeout.signal,
        }
        const sent = REQUESTS[protocol](url, options, resolve)
        sent.on('error', reject)
        // A receiver that switches to another protocol ends the request without an error.
        sent.on('close', () => reject(new Error('the connection was closed')))
        sent.end(body)
      })
      await skip(response)
    } catch (cause) {
      throw failureOf(cause, url, timeout.signal.aborted && !signal.aborted)
    }
    const { statusCode: status = 0 } = response
    if (status >= 200 && status < 300) return
    const retryAfterMs = readRetryAfter(response.headers['retry-after'])
    // A redirect is a failure too: it could lead anywhere.
    throw new DeliveryError('status', `${serverOf(url)} responded with ${status}`, {
      status,
      ...(retryAfterMs !== undefined && { retryAfterMs }),
    })
  }
}

/** Reads the response to its end. A long one is cut off, with its connection. */
async function skip(response: http.IncomingMessage): Promise<void> {
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    // Leaving the loop destroys the response.
    if (bytes > MAX_RESPONSE_BYTES) return
  }
}

/** What errors of request-filtering-agent say; they have no code. */
const REFUSED_ADDRESS = /is not allowed/

function failureOf(cause: unknown, url: URL, isTimeout: boolean): DeliveryError {
  if (isTimeout)
    return new DeliveryError('timeout', `${serverOf(url)} did not respond in time`, { cause })
  if (cause instanceof Error && !('code' in cause) && REFUSED_ADDRESS.test(cause.message))
    return new DeliveryError('address', `${serverOf(url)}: its address is not allowed`, { cause })
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

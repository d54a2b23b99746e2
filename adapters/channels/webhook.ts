import { describeEvent } from '../../src/describing/describe-event.js'
import { sentenceText } from '../../src/describing/sentence-text.js'
import { AuditLogError } from '../../src/errors.js'
import type { AuditEvent } from '../../src/event/event.js'
import type { EventTypes } from '../../src/event/event-types.js'
import type { BatchLimits, Channel } from '../../src/subscriptions/channel.js'
import { createPost } from './post.js'
import { readSecrets, signedHeaders } from './signature.js'

export interface WebhookOptions {
  /** An `http:` or `https:` URL. It is not stored, and only its server is named in events. */
  readonly url: string
  /**
   * `whsec_` and the base64 of 24 to 64 random bytes, as Standard Webhooks asks. Of several, each signs: so a secret can be
   * replaced while receivers still know the one before.
   */
  readonly secret: string | readonly string[]
  /** Further headers; at most 20. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** With more than one event, each body has a list of events. @default one event, or 262144 bytes */
  readonly batch?: BatchLimits | undefined
  readonly rate?: Channel['rate']
  readonly checkpoint?: Channel['checkpoint']
  /** For the whole request, in milliseconds. @default 15000 */
  readonly timeoutMs?: number | undefined
}

const MAX_HEADERS = 20
const MAX_BYTES = 262_144
const TIMEOUT_MS = 15_000
const RESERVED_HEADER = /^(?:host|connection|transfer-encoding|user-agent|content-.*|webhook-.*)$/i

/**
 * A channel that posts events as JSON, signed by the rules of Standard Webhooks 1.0. A response with a status from 200 to 299
 * accepts them. Redirects are not followed. The URL is trusted as it is part of the code: it may lead to a private address.
 * Throws `INVALID_OPTION`.
 */
export function webhook(options: WebhookOptions): Channel {
  const url = readUrl(options.url)
  const secrets = readSecrets(options.secret)
  const headers = readHeaders(options.headers)
  const { batch, rate, checkpoint, timeoutMs = TIMEOUT_MS } = options
  if (!(timeoutMs > 0)) throw invalid('timeoutMs must be greater than 0')
  const maxEvents = batch?.maxEvents ?? 1
  const post = createPost()
  return {
    kind: 'webhook',
    batch: { maxBytes: MAX_BYTES, ...batch, maxEvents },
    ...(rate && { rate }),
    ...(checkpoint && { checkpoint }),
    async deliver(events, { id, types, signal }) {
      const body = bodyOf(events, types, maxEvents > 1)
      const seconds = Math.floor(Date.now() / 1000)
      await post({
        url,
        body,
        timeoutMs,
        signal,
        headers: {
          ...headers,
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'daybook',
          ...signedHeaders(id, seconds, body, secrets),
        },
      })
    },
  }
}

/** The body of Standard Webhooks: type, timestamp, data. Channels with batches always send a list. */
function bodyOf(events: readonly AuditEvent[], types: EventTypes, isBatch: boolean): string {
  const [first] = events
  const data = events.map((event) => ({
    ...event,
    sentence: sentenceText(describeEvent(event, { types })),
  }))
  return JSON.stringify({
    type: isBatch ? 'events' : first!.type,
    timestamp: first!.created_at,
    data: isBatch ? data : data[0],
  })
}

const invalid = (problem: string): AuditLogError =>
  new AuditLogError('INVALID_OPTION', `webhook: ${problem}`)

/** The messages do not repeat the URL, which may contain a secret. */
function readUrl(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !['http:', 'https:'].includes(url.protocol))
    throw invalid('url must be an http: or https: URL')
  if (url.username !== '' || url.password !== '')
    throw invalid('url must not have a user name or a password; use headers')
  return url
}

function readHeaders(given: WebhookOptions['headers'] = {}): Record<string, string> {
  const names = Object.keys(given)
  const reserved = names.find((name) => RESERVED_HEADER.test(name))
  if (reserved !== undefined) throw invalid(`the header ${reserved} is set by the webhook`)
  if (names.length > MAX_HEADERS) throw invalid(`at most ${MAX_HEADERS} headers are allowed`)
  return { ...given }
}

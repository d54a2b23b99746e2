import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import type { AuditEvent } from '../../src/event/event.js'
import type { EventTypes } from '../../src/event/event-types.js'
import type { BatchLimits, Channel } from '../../src/subscriptions/channel.js'
import { createPost, type Post } from './post.js'
import { invalidOption, readCompress, readHeaders, readUrl } from './read-options.js'
import { sentenceOf } from './sentences.js'
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
  /** How bodies are compressed. Signatures are those of the text before that. @default not at all */
  readonly compress?: 'gzip' | undefined
  readonly rate?: Channel['rate']
  readonly checkpoint?: Channel['checkpoint']
  /** For the whole request, in milliseconds. @default 15000 */
  readonly timeoutMs?: number | undefined
}

/** The options of a webhook after they have been checked. */
export interface WebhookSettings extends Pick<Channel, 'batch' | 'rate' | 'checkpoint'> {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly compress: 'gzip' | undefined
  readonly timeoutMs: number
  /** The secrets that sign now. */
  readonly secrets: () => readonly Buffer[]
}

const MAX_BYTES = 262_144
export const TIMEOUT_MS = 15_000

const gzip = promisify(gzipWithCallback)

/**
 * A channel that posts events as JSON, signed by the rules of Standard Webhooks 1.0. A response with a status from 200 to 299
 * accepts them. Redirects are not followed. The URL is trusted as it is part of the code: it may lead to a private address.
 * Throws `INVALID_OPTION`.
 */
export function webhook(options: WebhookOptions): Channel {
  const fail = invalidOption('webhook')
  const secrets = readSecrets(options.secret)
  const { batch, rate, checkpoint, timeoutMs = TIMEOUT_MS } = options
  if (!(timeoutMs > 0)) throw fail('timeoutMs', 'must be greater than 0')
  const settings: WebhookSettings = {
    url: readUrl(options.url, 'url', fail),
    headers: readHeaders(options.headers, fail),
    compress: readCompress(options.compress, fail),
    batch,
    rate,
    checkpoint,
    timeoutMs,
    secrets: () => secrets,
  }
  return webhookChannel(settings, createPost())
}

export function webhookChannel(settings: WebhookSettings, post: Post): Channel {
  const { url, headers, batch, rate, checkpoint, compress, timeoutMs, secrets } = settings
  const maxEvents = batch?.maxEvents ?? 1
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
        body: compress ? await gzip(body) : body,
        timeoutMs,
        signal,
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...(compress && { 'content-encoding': compress }),
          ...signedHeaders(id, seconds, body, secrets()),
        },
      })
    },
  }
}

/** The body of Standard Webhooks: type, timestamp, data. Channels with batches always send a list. */
function bodyOf(events: readonly AuditEvent[], types: EventTypes, isBatch: boolean): string {
  const [first] = events
  const data = events.map((event) => ({ ...event, sentence: sentenceOf(event, types) }))
  return JSON.stringify({
    type: isBatch ? 'events' : first!.type,
    timestamp: first!.created_at,
    data: isBatch ? data : data[0],
  })
}

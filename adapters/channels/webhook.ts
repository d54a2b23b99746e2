import { promisify } from 'node:util'
import { gzip as gzipWithCallback } from 'node:zlib'
import type { BatchLimits, Channel } from '../../src/subscriptions/channel.js'
import { CONNECTION_OPTIONS, type ConnectionOptions, readConnections } from './connections.js'
import { createPost, type Post } from './post.js'
import { checkDelivery, invalidOption, readCompress, readHeaders, readUrl } from './read-options.js'
import { readSecrets, signedHeaders } from './signature.js'
import { type FormatSettings, readFormat, type WebhookFormat, writeBody } from './webhook-body.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

export interface WebhookOptions extends ConnectionOptions {
  /** An `http:` or `https:` URL. It is not stored, and events contain only its server. */
  readonly url: string
  /**
   * `whsec_` and the base64 of 24 to 64 random bytes, as Standard Webhooks requires. With several secrets, each
   * signs. So a secret can be replaced while receivers still use the old one.
   */
  readonly secret: string | readonly string[]
  /** Further headers; at most 20. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** With more than one event, each body has a list of events. @default one event, or 262144 bytes */
  readonly batch?: BatchLimits | undefined
  /**
   * Format of the bodies: Standard Webhooks, CloudEvents, OCSF, logs of OpenTelemetry, or a line of JSON for each event.
   * @default 'standard'
   */
  readonly format?: WebhookFormat | undefined
  /**
   * The name of the service in bodies of CloudEvents, OCSF and OpenTelemetry. CloudEvents need a URI reference: their
   * `source`. @default 'daybook'
   */
  readonly service?: string | undefined
  /** Compression of bodies. Signatures are made of the uncompressed text. @default not at all */
  readonly compress?: 'gzip' | undefined
  readonly rate?: Channel['rate']
  readonly checkpoint?: Channel['checkpoint']
  /** Time limit for the whole request, in milliseconds. @default 15000 */
  readonly timeoutMs?: number | undefined
}

const WEBHOOK_OPTIONS: OptionNames<WebhookOptions> = {
  url: true,
  secret: true,
  headers: true,
  batch: true,
  format: true,
  service: true,
  compress: true,
  rate: true,
  checkpoint: true,
  timeoutMs: true,
  ...CONNECTION_OPTIONS,
}

/** The options of a webhook after they have been checked. */
export interface WebhookSettings extends Pick<Channel, 'batch' | 'rate' | 'checkpoint'> {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: FormatSettings
  readonly compress: 'gzip' | undefined
  readonly timeoutMs: number
  /** The secrets that sign now. */
  readonly secrets: () => readonly Buffer[]
}

const MAX_BYTES = 262_144
export const TIMEOUT_MS = 15_000

const gzip = promisify(gzipWithCallback)

/**
 * A channel that posts events, signed by the rules of Standard Webhooks 1.0. A response with a status from 200 to 299
 * accepts them. Redirects are not followed. The URL is trusted as it is part of the code: it may lead to a private address.
 * Throws `INVALID_OPTION`.
 */
export function webhook(options: WebhookOptions): Channel {
  requireOptions(options, WEBHOOK_OPTIONS, 'webhook')
  checkDelivery(options, 'webhook')
  const fail = invalidOption('webhook')
  const secrets = readSecrets(options.secret)
  const { batch, rate, checkpoint, timeoutMs = TIMEOUT_MS } = options
  if (!(timeoutMs > 0)) throw fail('timeoutMs', 'must be greater than 0')
  const settings: WebhookSettings = {
    url: readUrl(options.url, 'url', fail),
    headers: readHeaders(options.headers, fail),
    body: readFormat(options, fail),
    compress: readCompress(options.compress, fail),
    batch,
    rate,
    checkpoint,
    timeoutMs,
    secrets: () => secrets,
  }
  return webhookChannel(settings, createPost(readConnections(options, fail, settings.url)))
}

export function webhookChannel(settings: WebhookSettings, post: Post): Channel {
  const { url, headers, batch, rate, checkpoint, timeoutMs, secrets } = settings
  const { body: format, compress } = settings
  const maxEvents = batch?.maxEvents ?? 1
  return {
    kind: 'webhook',
    batch: { maxBytes: MAX_BYTES, ...batch, maxEvents },
    ...(rate && { rate }),
    ...(checkpoint && { checkpoint }),
    async deliver(events, { id, types, signal }) {
      const { text, contentType } = writeBody(events, { types, isBatch: maxEvents > 1 }, format)
      // The body is encoded once, for the signature, the length and the request.
      const body = Buffer.from(text)
      const seconds = Math.floor(Date.now() / 1000)
      await post({
        url,
        body: compress ? await gzip(body) : body,
        timeoutMs,
        signal,
        headers: {
          ...headers,
          'content-type': contentType,
          ...(compress && { 'content-encoding': compress }),
          ...signedHeaders(id, seconds, body, secrets()),
        },
      })
    },
  }
}

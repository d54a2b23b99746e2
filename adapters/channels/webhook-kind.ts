import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../../src/event/event.js'
import { REDACTED } from '../../src/event/secrets.js'
import type { ChannelKind, ChannelSetup } from '../../src/subscriptions/channel-kind.js'
import { changedConfig, changedSecret, invalidChannel } from './kind-config.js'
import { invalidOption, readBatch, readCompress, readHeaders, readRate } from './read-options.js'
import { readSecrets } from './signature.js'
import {
  openUserUrls,
  readUserUrl,
  USER_URL_OPTIONS,
  type UserUrlOptions,
  type UserUrls,
} from './user-urls.js'
import { TIMEOUT_MS, webhookChannel } from './webhook.js'
import { readFormat } from './webhook-body.js'
import { type OptionNames, checkOptions } from '../../src/options.js'

export interface WebhookKindOptions extends UserUrlOptions {
  /**
   * Like the option of `webhook`. Must be a URI reference, because users may choose CloudEvents. @default 'daybook'
   */
  readonly service?: string | undefined
}

const WEBHOOK_KIND_OPTIONS: OptionNames<WebhookKindOptions> = {
  ...USER_URL_OPTIONS,
  service: true,
}

const MEMBERS = ['url', 'headers', 'format', 'batch', 'rate', 'compress']

/** The encrypted part. Until `until` (Unix milliseconds), the secret `former` signs too. */
interface WebhookSecrets {
  readonly secret: string
  readonly former?: { readonly secret: string; readonly until: number }
  readonly headers: Readonly<Record<string, string>>
}

const SECRET_BYTES = 32
const FORMER_MS = 24 * 60 * 60_000

const createSecret = (): string => `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`

/**
 * Webhooks that users create at run time. Their `config` has `url`, `headers`, `format`, `batch`, `rate` and `compress`, as the options
 * of `webhook`. The secret is generated, and the values of headers are stored encrypted. URLs lead to public addresses only,
 * and redirects are not followed. Throws `INVALID_OPTION`, and `MISSING_DEPENDENCY` if request-filtering-agent is not installed.
 */
export function webhookKind(options: WebhookKindOptions = {}): ChannelKind {
  checkOptions(options, WEBHOOK_KIND_OPTIONS, 'webhookKind')
  const fail = invalidOption('webhookKind')
  const urls = openUserUrls(options, fail)
  const { service } = readFormat({ format: 'cloudevents', service: options.service }, fail)
  return {
    async read(given, present) {
      const config = changedConfig(given, present, MEMBERS)
      const secrets = present?.secrets as WebhookSecrets | undefined
      const headers = readHeaders(changedHeaders(config['headers'], secrets), invalidChannel)
      readBatch(config['batch'], invalidChannel)
      readRate(config['rate'], invalidChannel)
      readCompress(config['compress'], invalidChannel)
      readFormat({ format: config['format'], service }, invalidChannel)
      const url = readUserUrl(config['url'], 'url', urls)
      if (url.href !== present?.config['url']) await urls.vet(url, 'url')
      if (present) checkServer(url, present, given['headers'])
      const secret = secrets ? undefined : createSecret()
      return {
        config: {
          ...config,
          url: url.href,
          ...('headers' in config && { headers: redacted(headers) }),
        },
        secrets: { ...(secrets ?? { secret: secret! }), headers } satisfies WebhookSecrets,
        ...(secret !== undefined && { secret }),
      }
    },
    open: (setup) => openWebhook(setup, urls, service),
    rotate({ config, secrets }, now) {
      const secret = createSecret()
      const former = {
        secret: (secrets as unknown as WebhookSecrets).secret,
        until: now + FORMER_MS,
      }
      return { config, secrets: { ...secrets, secret, former }, secret }
    },
  }
}

/**
 * Throws if the new URL leads to another server and the change contains no headers. Otherwise a user who cannot see
 * the values of headers could have them sent elsewhere.
 */
function checkServer(url: URL, { config, secrets }: ChannelSetup, given: unknown): void {
  if (url.origin === new URL(config['url'] as string).origin) return
  const values = Object.values(Object(given) as object)
  const isNew = given === null || (given !== undefined && !values.includes(REDACTED))
  if (!isNew && Object.keys((secrets as unknown as WebhookSecrets).headers).length > 0)
    throw invalidChannel('headers', 'must be given again, as the URL leads to another server')
}

function openWebhook({ config, secrets }: ChannelSetup, urls: UserUrls, service: string) {
  const url = readUserUrl(config['url'], 'url', urls)
  const { secret, former, headers } = secrets as unknown as WebhookSecrets
  const own = readSecrets(secret)
  const both = former ? readSecrets([secret, former.secret]) : own
  const settings = {
    url,
    headers,
    batch: readBatch(config['batch'], invalidChannel),
    rate: readRate(config['rate'], invalidChannel),
    body: readFormat({ format: config['format'], service }, invalidChannel),
    compress: readCompress(config['compress'], invalidChannel),
    checkpoint: undefined,
    timeoutMs: TIMEOUT_MS,
    secrets: () => (former && Date.now() < former.until ? both : own),
  }
  return webhookChannel(settings, urls.postTo(url))
}

/** The headers, with the stored value for each `[redacted]`. */
function changedHeaders(given: unknown, present: WebhookSecrets | undefined): unknown {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return given
  const headers = Object.entries(given).map(([name, value]) => {
    const stored =
      present && Object.hasOwn(present.headers, name) ? present.headers[name] : undefined
    return [name, changedSecret(value, stored)]
  })
  return Object.fromEntries(headers) as unknown
}

const redacted = (headers: Readonly<Record<string, string>>): JsonObject =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, REDACTED]))

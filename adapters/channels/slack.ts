import type { BatchLimits, Channel } from '../../src/subscriptions/channel.js'
import { CONNECTION_OPTIONS, type ConnectionOptions, readConnections } from './connections.js'
import { createPost, type Post } from './post.js'
import { checkDelivery, invalidOption, readUrl } from './read-options.js'
import { type Render, renderText } from './render.js'
import { escapeMarkup } from './sentences.js'
import { TIMEOUT_MS } from './webhook.js'
import { type OptionNames, requireOptions } from '../../src/options.js'

export interface SlackOptions extends ConnectionOptions {
  /** The URL of an incoming webhook of Slack, Mattermost or another service that takes `{ "text": … }`. It is not stored. */
  readonly url: string
  /** @default 20 events, or 262144 bytes */
  readonly batch?: BatchLimits | undefined
  /** @default one message each second, which is what Slack allows */
  readonly rate?: Channel['rate']
  /** A custom text. Its `text` is sent unchanged. @default a line for each event, its sentence */
  readonly render?: Render | undefined
}

const SLACK_OPTIONS: OptionNames<SlackOptions> = {
  url: true,
  batch: true,
  rate: true,
  render: true,
  ...CONNECTION_OPTIONS,
}

const MAX_EVENTS = 20
const MAX_BYTES = 262_144
const RATE: NonNullable<Channel['rate']> = { count: 1, per: { seconds: 1 } }

const sentences: Render = (events, { sentence }) => ({
  text: events.map((event) => escapeMarkup(sentence(event))).join('\n'),
})

/**
 * A channel that posts messages to Slack, or to a service with the same interface. In sentences `&`, `<` and `>` are escaped,
 * so in Slack an event can neither mention a person or a channel nor add a link. The cursor is stored after each message. The URL is trusted
 * as it is part of the code. Throws `INVALID_OPTION`.
 */
export function slack(options: SlackOptions): Channel {
  requireOptions(options, SLACK_OPTIONS, 'slack')
  checkDelivery(options, 'slack')
  const fail = invalidOption('slack')
  const url = readUrl(options.url, 'url', fail)
  return slackChannel({ ...options, url }, createPost(readConnections(options, fail, url)))
}

export function slackChannel(
  {
    url,
    batch,
    rate = RATE,
    render = sentences,
  }: Pick<SlackOptions, 'batch' | 'rate' | 'render'> & { readonly url: URL },
  post: Post,
): Channel {
  return {
    kind: 'slack',
    batch: { maxEvents: MAX_EVENTS, maxBytes: MAX_BYTES, ...batch },
    rate,
    checkpoint: 'each',
    async deliver(events, context) {
      const { text } = await renderText(render, events, context)
      await post({
        url,
        body: Buffer.from(JSON.stringify({ text })),
        timeoutMs: TIMEOUT_MS,
        signal: context.signal,
        headers: { 'content-type': 'application/json' },
      })
    },
  }
}

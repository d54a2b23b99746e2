import { randomBytes } from 'node:crypto'
import type { SubscriptionsOptions } from 'daybook'
import { email, webhook } from 'daybook/channels'
import { startMailSink } from './mail-sink.js'
import type { Received } from './received.js'
import { startWebhookReceiver } from './webhook-receiver.js'

/** The newest things that arrived are kept. */
const KEPT = 50

/** Receivers of the demo's own subscriptions, which real services would have elsewhere. */
export interface Receivers {
  /** Subscriptions that deliver to them. */
  readonly subscriptions: SubscriptionsOptions
  /** Deliveries that have arrived, newest first. */
  received(): readonly Received[]
  close(): Promise<void>
}

export async function startReceivers(): Promise<Receivers> {
  const all: Received[] = []
  const arrived = (received: Received): void => {
    all.unshift(received)
    all.splice(KEPT)
  }
  // Each start has another secret and other ports. The subscriptions stay the same: channels are not stored.
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const hook = await startWebhookReceiver(secret, arrived)
  const mail = await startMailSink(arrived)
  return {
    subscriptions: {
      channels: {
        'demo-webhook': webhook({
          url: hook.url,
          secret,
          batch: { maxEvents: 20, maxWait: { seconds: 2 } },
        }),
        'demo-mail': email({
          transport: { host: '127.0.0.1', port: mail.port, secure: false, ignoreTLS: true },
          from: 'Workflow service <audit@acme.example>',
          to: 'ops@acme.example',
          subject: 'Failed: {sentence}',
          batch: { maxWait: { seconds: 3 } },
        }),
      },
      subscriptions: {
        'demo-changes': { channel: 'demo-webhook', filter: 'filter[type_start]=api:' },
        // Not the failures of the mails themselves, which are events too.
        'demo-failures': {
          channel: 'demo-mail',
          filter: 'filter[type_start]=error:&filter[type_not_start]=error:email:',
        },
      },
    },
    received: () => all,
    async close() {
      await Promise.all([hook.close(), mail.close()])
    },
  }
}

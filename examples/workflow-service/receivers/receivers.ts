import { randomBytes } from 'node:crypto'
import type { SubscriptionsOptions } from 'daybook'
import { webhook } from 'daybook/channels'
import { type Received, startWebhookReceiver } from './webhook-receiver.js'

/** The newest things that arrived are kept. */
const KEPT = 50

/** Receivers of the demo's own subscriptions, which real services would have elsewhere. */
export interface Receivers {
  /** Subscriptions that deliver to them. */
  readonly subscriptions: SubscriptionsOptions
  /** What has arrived, newest first. */
  received(): readonly Received[]
  close(): Promise<void>
}

export async function startReceivers(): Promise<Receivers> {
  const all: Received[] = []
  const arrived = (received: Received): void => {
    all.unshift(received)
    all.splice(KEPT)
  }
  // Each start has another secret and another port. The subscriptions stay the same: channels are not stored.
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const hook = await startWebhookReceiver(secret, arrived)
  return {
    subscriptions: {
      channels: {
        'demo-webhook': webhook({
          url: hook.url,
          secret,
          batch: { maxEvents: 20, maxWait: { seconds: 2 } },
        }),
      },
      subscriptions: {
        'demo-changes': { channel: 'demo-webhook', filter: 'filter[type_start]=api:' },
      },
    },
    received: () => all,
    close: () => hook.close(),
  }
}

import type { Subscriptions } from '../../../src/subscriptions/methods.js'
import { type ManagedSubscriptions, subscriptionsOfFeed } from '../feed/managed-subscriptions.js'
import type { OpenLog } from './log.js'

/** The subscriptions of a store, managed by this process. */
function subscriptionsOfStore(
  subscriptions: Subscriptions,
  username: string | undefined,
): ManagedSubscriptions {
  return {
    async list(options) {
      const status = await subscriptions.status(options)
      const statuses = new Map(status.map((one) => [one.id, one]))
      const all = await subscriptions.list(options)
      // A subscription that was created or removed between the two reads has no status.
      return all.flatMap(({ whenStuck, ...subscription }) => {
        const found = statuses.get(subscription.id)
        return found ? [{ ...subscription, when_stuck: whenStuck, ...found }] : []
      })
    },
    async pause(id, options) {
      await subscriptions.pause(id, { ...options, username })
    },
    async resume(id, options) {
      await subscriptions.resume(id, { ...options, username })
    },
    async replay(id, from, options) {
      await subscriptions.replay(id, { ...options, username, from })
    },
    async parked(id, options) {
      const found = await subscriptions.parked(id, options)
      return found.map(({ event_id, ...one }) => ({ event_id, ...one }))
    },
    redrive: (id, which, options) => subscriptions.redrive(id, which, { ...options, username }),
    discard: (id, which, options) => subscriptions.discard(id, which, { ...options, username }),
    test: (id, options) => subscriptions.test(id, { ...options, username }),
  }
}

/**
 * The subscriptions of a log. Changes in a store are recorded with `username`; a feed records its authenticated user.
 */
export function managedSubscriptions(
  { audit, feed }: Pick<OpenLog, 'audit' | 'feed'>,
  username?: string,
): ManagedSubscriptions {
  if (feed) return subscriptionsOfFeed(feed)
  if (audit) return subscriptionsOfStore(audit.subscriptions, username)
  throw new Error('the log has neither a store nor a feed')
}

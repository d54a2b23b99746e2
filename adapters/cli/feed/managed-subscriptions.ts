import type { WaitOptions } from '../../../src/store/store.js'
import type { Subscription } from '../../../src/subscriptions/subscription.js'
import type { SubscriptionStatus } from '../../../src/subscriptions/status.js'
import type { Parked, Redriven } from '../../../src/subscriptions/parked.js'
import type { TestResult } from '../../../src/subscriptions/notification-channel.js'
import { CommandError } from '../terminal/exit-codes.js'
import type { Feed } from './open-feed.js'

/** A subscription with its status, as the endpoints return it. */
export type SubscriptionRow = Omit<Subscription, 'whenStuck'> &
  SubscriptionStatus & { readonly when_stuck: Subscription['whenStuck'] }

/** The selected parked events: all, or the events with these ids. */
export type Which = 'all' | readonly string[]

/** The subscriptions of a log in a store or behind a feed. */
export interface ManagedSubscriptions {
  /** Returns the subscriptions in the order of their names. */
  list(options: WaitOptions): Promise<readonly SubscriptionRow[]>
  pause(id: string, options: WaitOptions): Promise<void>
  resume(id: string, options: WaitOptions): Promise<void>
  /**
   * Delivers the events from this `created_at` on again; `beginning` means all. By default, begins with the first
   * skipped event.
   */
  replay(id: string, from: string | undefined, options: WaitOptions): Promise<void>
  /** Returns the oldest parked events, at most `limit`. */
  parked(id: string, options: WaitOptions & { readonly limit: number }): Promise<readonly Parked[]>
  redrive(id: string, which: Which, options: WaitOptions): Promise<Redriven>
  /** Forgets parked events, and returns their number. */
  discard(id: string, which: Which, options: WaitOptions): Promise<number>
  test(id: string, options: WaitOptions): Promise<TestResult>
}

interface Resource<Attributes> {
  readonly id: string
  readonly attributes: Attributes
}

const MAX_LIMIT = 1000
// A redrive is answered when all of its events were tried.
const ACTION_TIMEOUT_MS = 300_000

/** The subscriptions that the user of a feed may manage. */
export function subscriptionsOfFeed({ client, paths }: Feed): ManagedSubscriptions {
  const { subscriptions: path } = paths
  const act = async <Result>(
    id: string,
    action: string,
    meta: object | undefined,
    { signal }: WaitOptions,
  ): Promise<Result> => {
    const url = `${path}/${id}/${action}`
    const document = meta ? { meta } : {}
    const request = { method: 'POST', document, signal, timeoutMs: ACTION_TIMEOUT_MS } as const
    return (await client.document<{ readonly meta: Result }>(url, request)).document.meta
  }
  const items = async <Attributes>(
    url: string,
    signal: AbortSignal | undefined,
  ): Promise<readonly Resource<Attributes>[]> => {
    type Items = { readonly data: readonly Resource<Attributes>[] }
    return (await client.document<Items>(url, { signal })).document.data
  }
  return {
    async list({ signal }) {
      // A service without these endpoints answers as for any unknown path.
      const response = await client.send(`${path}/me`, { signal })
      await response.body?.cancel()
      if (response.status === 404)
        throw new CommandError(
          'failed',
          `the service has no endpoints for subscriptions at ${path}`,
        )
      const found = await items<Omit<SubscriptionRow, 'id'>>(`${path}?limit=${MAX_LIMIT}`, signal)
      return found.map(({ id, attributes }) => ({ id, ...attributes }))
    },
    pause: (id, options) => act(id, 'pause', undefined, options),
    resume: (id, options) => act(id, 'resume', undefined, options),
    replay: (id, from, options) => act(id, 'replay', from === undefined ? {} : { from }, options),
    async parked(id, { limit, signal }) {
      const found = await items<Omit<Parked, 'event_id'>>(
        `${path}/${id}/parked?limit=${limit}`,
        signal,
      )
      return found.map((one) => ({ event_id: one.id, ...one.attributes }))
    },
    redrive: (id, which, options) => act(id, 'redrive', { which }, options),
    async discard(id, which, options) {
      const { discarded } = await act<{ readonly discarded: number }>(
        id,
        'discard',
        { which },
        options,
      )
      return discarded
    },
    test: (id, options) => act(id, 'test', undefined, options),
  }
}

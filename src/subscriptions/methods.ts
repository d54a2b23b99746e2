import type { WaitOptions } from '../store/store.js'
import {
  MANAGE_OPTIONS,
  type ManageOptions,
  type NotificationChannels,
  type TestResult,
} from './notification-channel.js'
import type { Parked, ParkedOptions, Redriven } from './parked.js'
import type { StatusOptions, SubscriptionStatus } from './status.js'
import type { Subscription, SubscriptionChange, SubscriptionDefinition } from './subscription.js'
import type { OptionNames } from '../options.js'

export interface ReplayOptions extends ManageOptions {
  /**
   * Delivers events again from this `created_at` on; `beginning` means all events. @default `skipped_since`: the
   * first event that passed while the channel was disabled
   */
  readonly from?: string | undefined
}

export const REPLAY_OPTIONS: OptionNames<ReplayOptions> = { ...MANAGE_OPTIONS, from: true }

/**
 * Sends matching events to channels. Every matching event is delivered at least once, in the order of `created_at`.
 * One process at a time delivers to a channel; if it dies, another process takes over within about 7 seconds. Methods
 * reject with `UNKNOWN_SUBSCRIPTION` for an id that does not exist, `INVALID_SUBSCRIPTION`, `STORE_FAILED`,
 * `ABORTED`, `CLOSED`.
 */
export interface Subscriptions {
  /** Returns all subscriptions in the order of their names. */
  list(options?: WaitOptions): Promise<readonly Subscription[]>
  get(id: string, options?: WaitOptions): Promise<Subscription | undefined>
  /** Resolves once the subscription is stored. Events recorded from then on are delivered. `NAME_TAKEN` for a name in use. */
  create(definition: SubscriptionDefinition, options?: ManageOptions): Promise<Subscription>
  /** `NAME_TAKEN`; `DEFINED_IN_CODE` for a subscription in the code of this process. */
  update(id: string, change: SubscriptionChange, options?: ManageOptions): Promise<Subscription>
  /** Also removes its parked events. `DEFINED_IN_CODE` for a subscription in the code of this process. */
  remove(id: string, options?: ManageOptions): Promise<void>
  /** Deliveries end within about 2 seconds, in this process at once. The subscription keeps its cursor. */
  pause(id: string, options?: ManageOptions): Promise<Subscription>
  resume(id: string, options?: ManageOptions): Promise<Subscription>
  /** Delivers events again, with the same ids. `INVALID_SUBSCRIPTION` without `from` if no event was skipped. */
  replay(id: string, options?: ReplayOptions): Promise<Subscription>
  /** Returns the status of all subscriptions or of the subscriptions of one owner, ordered by name. */
  status(options?: StatusOptions): Promise<readonly SubscriptionStatus[]>
  /** Returns parked events, oldest first. */
  parked(id: string, options?: ParkedOptions): Promise<readonly Parked[]>
  /**
   * Delivers parked events again, all or the events with these ids, from this process and out of order. Rejects with
   * `CHANNEL_UNAVAILABLE` if this process cannot deliver to the channel, or if the channel is disabled. If the
   * channel is changed or disabled during the call, the remaining events stay parked.
   */
  redrive(id: string, which: 'all' | readonly string[], options?: ManageOptions): Promise<Redriven>
  /** Forgets parked events. Returns how many there were. */
  discard(id: string, which: 'all' | readonly string[], options?: ManageOptions): Promise<number>
  /** Delivers one event of the type `daybook:test`, which is not stored: see `NotificationChannels.test`. */
  test(id: string, options?: ManageOptions): Promise<TestResult>
  /** The channels of the log. */
  readonly channels: NotificationChannels
  /** Ends the deliveries of this process. */
  close(): Promise<void>
}

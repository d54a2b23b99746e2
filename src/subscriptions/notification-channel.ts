import type { JsonObject } from '../event/event.js'
import { WAIT_OPTIONS, type WaitOptions } from '../store/store.js'
import type { DeliveryFault } from './channel.js'
import type { OptionNames } from '../options.js'

/** A channel without its secrets. It is in the code of a running process, or users created it. */
export interface NotificationChannel {
  /** A UUID. The id of a channel in code is derived from its name. */
  readonly id: string
  /** Unique in the store. Subscriptions name it. */
  readonly name: string
  /** A name of the option `kinds`. A channel in code has its `kind`, such as `function`. */
  readonly kind: string
  /** Settings that users may see; `{}` for a channel in code. */
  readonly config: JsonObject
  /** False if events pass without being delivered. */
  readonly enabled: boolean
  /** Reason why it is disabled: the reason of a user, or the answer of a receiver that is gone. */
  readonly disabled_reason: string | null
  /** True if a running process has the channel in its code. */
  readonly in_code: boolean
}

export interface ChannelDefinition {
  /** Lower-case letters, digits, `_` and `-`; at most 63. */
  readonly name: string
  /** A name of the option `kinds`. It cannot be changed. */
  readonly kind: string
  /** Checked by the kind. May contain secrets, which are stored encrypted and are not part of `NotificationChannel.config`. */
  readonly config: JsonObject
}

export const CHANNEL_DEFINITION: OptionNames<ChannelDefinition> = {
  name: true,
  kind: true,
  config: true,
}

/** Members of `config` that are not given keep their value. */
export type ChannelChange = Partial<Pick<ChannelDefinition, 'name' | 'config'>>

export const CHANNEL_CHANGE: OptionNames<ChannelChange> = { name: true, config: true }

/** A channel, and the secret that the call has generated. */
export interface ChannelWithSecret {
  readonly channel: NotificationChannel
  /** The generated secret. Only this call returns it. Null if the call has generated none. */
  readonly secret: string | null
}

export interface ManageOptions extends WaitOptions {
  /** The user who makes the change; null if there is none. @default the user of the actor: see `withActor` */
  readonly username?: string | null | undefined
}

export const MANAGE_OPTIONS: OptionNames<ManageOptions> = { ...WAIT_OPTIONS, username: true }

export interface DisableOptions extends ManageOptions {
  /** Becomes `disabled_reason`. @default null */
  readonly reason?: string | null | undefined
}

export const DISABLE_OPTIONS: OptionNames<DisableOptions> = { ...MANAGE_OPTIONS, reason: true }

/** The result of a test. */
export interface TestResult {
  readonly accepted: boolean
  /** The HTTP status of the response that refused the event; null without a response. */
  readonly status: number | null
  /** The fault; null if the event was accepted. */
  readonly fault: DeliveryFault | null
  readonly duration_ms: number
}

/**
 * The channels of a log: in the code of running processes, and created by users. Methods reject with
 * `UNKNOWN_CHANNEL` for an id that does not exist, `STORE_FAILED`, `ABORTED`, `CLOSED`; methods that change a channel also
 * with `READ_ONLY`. Each change is recorded as an event such as `api:notification_channels:create`, without secrets.
 */
export interface NotificationChannels {
  /** Values of `kind` for `create`: the names of the option `kinds` of this process. */
  readonly kinds: readonly string[]
  /** Returns all channels in the order of their names. */
  list(options?: WaitOptions): Promise<readonly NotificationChannel[]>
  get(id: string, options?: WaitOptions): Promise<NotificationChannel | undefined>
  /**
   * Resolves once the channel is stored. Processes with its kind deliver to it within about 4 seconds.
   * `INVALID_CHANNEL`, also for more than 100 channels; `NAME_TAKEN`; `NO_SECRETS_KEY` if it has secrets and there is
   * no `secretsKey`.
   */
  create(definition: ChannelDefinition, options?: ManageOptions): Promise<ChannelWithSecret>
  /**
   * `INVALID_CHANNEL`, `NAME_TAKEN`, `NO_SECRETS_KEY`, `DEFINED_IN_CODE`; `IN_USE` for a new name while a
   * subscription refers to the old one.
   */
  update(id: string, change: ChannelChange, options?: ManageOptions): Promise<ChannelWithSecret>
  /** `IN_USE` while a subscription names it, `DEFINED_IN_CODE`. */
  remove(id: string, options?: ManageOptions): Promise<void>
  /** Enables the channel. Events from then on are delivered. Skipped events are delivered by `replay`. */
  enable(id: string, options?: ManageOptions): Promise<NotificationChannel>
  /**
   * Disables the channel. Events pass without delivery, in this process at once, in other processes within about 2
   * seconds. The subscriptions count them as `skipped`.
   */
  disable(id: string, options?: DisableOptions): Promise<NotificationChannel>
  /**
   * Replaces the generated secret. Both secrets are valid for 24 hours. `INVALID_CHANNEL` if the kind generates none;
   * `DEFINED_IN_CODE`.
   */
  rotateSecret(id: string, options?: ManageOptions): Promise<ChannelWithSecret>
  /**
   * Delivers one event of the type `daybook:test`, which is not stored, from this process, also while the channel is disabled.
   * Waits for at most 30 seconds. `CHANNEL_UNAVAILABLE` if this process cannot deliver to it.
   */
  test(id: string, options?: ManageOptions): Promise<TestResult>
}

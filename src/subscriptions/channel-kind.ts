import type { JsonObject } from '../event/event.js'
import type { Channel } from './channel.js'

/** A kind of channel that users may create at run time, such as a webhook. Functions of `daybook/channels` make them. */
export interface ChannelKind {
  /**
   * Checks the settings of a user. `present` is the stored setup of a changed channel: missing members keep their
   * values. Throws `INVALID_CHANNEL` with a pointer such as `/config/url`. May be asynchronous, because an address is
   * looked up.
   */
  read(given: JsonObject, present?: ChannelSetup): ChannelDraft | Promise<ChannelDraft>
  /**
   * Returns the channel of a stored setup. Throws if it cannot be used, for example because an optional package is
   * missing.
   */
  open(setup: ChannelSetup): Channel
  /** Replaces the secret. Both secrets sign for 24 hours after `now` (Unix milliseconds). Absent if the kind makes no secret. */
  rotate?(setup: ChannelSetup, now: number): ChannelDraft
}

/** A channel as it is stored. */
export interface ChannelSetup {
  /** Settings that users may see. */
  readonly config: JsonObject
  /** Encrypted in the store, and never shown. `{}` if there are none. */
  readonly secrets: JsonObject
}

export interface ChannelDraft extends ChannelSetup {
  /** A generated secret. Only the call that generated it returns it. */
  readonly secret?: string | undefined
}

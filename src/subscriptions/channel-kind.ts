import type { JsonObject } from '../event/event.js'
import type { Channel } from './channel.js'

/** A kind of channel that users may create at run time, such as a webhook. Functions of `daybook/channels` make them. */
export interface ChannelKind {
  /**
   * Checks the settings that a user gives. `present` is the stored setup of a channel that is changed: members that are not given keep
   * their value. Throws `INVALID_CHANNEL` with a pointer such as `/config/url`. May resolve later, because an address is looked up.
   */
  read(given: JsonObject, present?: ChannelSetup): ChannelDraft | Promise<ChannelDraft>
  /** The channel of a stored setup. Throws if it cannot be used, for example because an optional package is missing. */
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
  /** A secret that was generated. The call that made it returns it once. */
  readonly secret?: string | undefined
}

import { changeData, type ChangeData } from '../event/changes.js'
import { defaultJsonLimits } from '../event/json.js'
import type { EventTypes } from '../event/event-types.js'
import type { SealedNames } from '../filter/sealed-names.js'
import type { EventStore, WaitOptions } from '../store/store.js'
import type { ChannelRegistry } from './channel-registry.js'
import type { Deliverer } from './deliverer.js'
import { readDefinitions } from './definitions.js'
import type { ManageOptions } from './notification-channel.js'
import type { OpenChannel, OpenChannels } from './open-channels.js'
import type { Outcomes } from './outcomes.js'
import type { Registry } from './registry.js'
import type { Rights } from './rights.js'
import { withServersOnly } from '../event/servers-only.js'

/** Parts that the methods for managing subscriptions and channels share. */
export interface Management {
  readonly store: EventStore
  readonly types: EventTypes
  /** Names of attributes that no filter may use. */
  readonly sealedNames: SealedNames
  readonly registry: Registry
  readonly channelRegistry: ChannelRegistry
  readonly channels: OpenChannels
  readonly outcomes: Outcomes
  readonly rights: Rights
  /** `undefined` if this process does not deliver. */
  readonly deliverer: Deliverer | undefined
  /** Throws `INVALID_OPTION` for options that the method does not have, `CLOSED` or `ABORTED`. */
  readonly check: (
    options: WaitOptions | undefined,
    names: Readonly<Record<string, true>>,
    method: string,
  ) => void
  /** Records that somebody changed something. */
  readonly managed: (type: string, data: object, options: ManageOptions) => Promise<void>
}

/**
 * Applies the stored subscriptions and channels in this process. Other processes apply them at their next heartbeat.
 */
export const refresh = async ({ deliverer }: Management): Promise<void> => deliverer?.refresh()

/** The channel as it is stored now, if this process can deliver to it. */
export async function openChannel(
  { deliverer, channels, store }: Management,
  name: string,
  options: WaitOptions,
): Promise<OpenChannel | undefined> {
  if (deliverer) await deliverer.refresh()
  else channels.update((await readDefinitions(store, options)).channels)
  return channels.get(name)
}

/**
 * Changes between two states, for the event about them. Paths of URLs are removed after the comparison, so that a
 * change of a path is still a change.
 */
export const changesBetween = (before: object, after: object): ChangeData =>
  withServersOnly(changeData(before, after, defaultJsonLimits))

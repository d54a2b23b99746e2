import { type ChannelsOptions, createChanges } from './change-channels.js'
import { unknownChannel } from './channel-registry.js'
import {
  findChannel,
  invalidChannel,
  managedChannel,
  publicChannel,
  readChannels,
  unavailable,
} from './find-channels.js'
import { type Management, openChannel, refresh } from './manage.js'
import {
  DISABLE_OPTIONS,
  MANAGE_OPTIONS,
  type ManageOptions,
  type NotificationChannel,
  type NotificationChannels,
} from './notification-channel.js'
import { WAIT_OPTIONS } from '../store/store.js'
import type { OpenChannel } from './open-channels.js'
import type { ChannelState } from './states.js'
import type { Subscription } from './subscription.js'
import { testDelivery } from './test-delivery.js'

export function createChannels(
  management: Management,
  options: ChannelsOptions,
): NotificationChannels {
  return {
    kinds: Object.keys(options.kinds),
    ...createReads(management),
    ...createChanges(management, options),
    ...createSwitches(management),
    async test(id, given = {}) {
      management.check(given, MANAGE_OPTIONS, 'channels.test')
      const { name } = await findChannel(management, id, given)
      const open = await openChannel(management, name, given)
      if (open?.id !== id) throw unavailable(name)
      const target = { subscription: testSubscription(open), channel: open.channel }
      const result = await testDelivery(
        { ...target, types: management.types },
        { channel: name },
        given,
      )
      const { duration_ms: _, ...data } = result
      await managedChannel(management, 'test', open, { username: given.username, data })
      return result
    },
  }
}

/** A substitute for the subscription that `deliver` gets. */
const testSubscription = ({ id, name }: OpenChannel): Subscription => ({
  id,
  name: 'test',
  channel: name,
  filter: '',
  from: 'now',
  whenStuck: 'park',
  retain: null,
  paused: false,
  owner: null,
  in_code: false,
})

function createReads(management: Management): Pick<NotificationChannels, 'list' | 'get'> {
  return {
    async list(given = {}) {
      management.check(given, WAIT_OPTIONS, 'channels.list')
      const all = await readChannels(management, given)
      return Array.from(all, ([id, state]) => publicChannel(id, state)).toSorted((a, b) =>
        a.name < b.name ? -1 : 1,
      )
    },
    async get(id, given = {}) {
      management.check(given, WAIT_OPTIONS, 'channels.get')
      const found = (await readChannels(management, given)).get(id)
      return found && publicChannel(id, found)
    },
  }
}

function createSwitches(management: Management): Pick<NotificationChannels, 'enable' | 'disable'> {
  return {
    async enable(id, given = {}) {
      management.check(given, MANAGE_OPTIONS, 'channels.enable')
      const found = await findChannel(management, id, given)
      const isChanged = await management.channelRegistry.switch(
        id,
        (present) => present && enabledState(present),
        given,
      )
      const channel = publicChannel(id, { ...found, enabled: true, disabled_reason: null })
      if (!isChanged) return channel
      await refresh(management)
      await managedChannel(management, 'enable', channel, given)
      return channel
    },
    async disable(id, options = {}) {
      management.check(options, DISABLE_OPTIONS, 'channels.disable')
      const { reason = null, ...given } = options
      if (reason !== null && typeof reason !== 'string')
        throw invalidChannel('disabled_reason', 'must be a text or null')
      return disableChannel(management, id, {
        ...given,
        reason,
        found: await findChannel(management, id, given),
      })
    },
  }
}

/** The state to store for an enabled channel. For a channel in code, nothing is stored. */
const enabledState = (present: ChannelState): ChannelState | undefined =>
  present.in_code ? undefined : { ...present, enabled: true, disabled_reason: null }

export interface Disabling extends ManageOptions {
  readonly reason: string | null
  /** The channel at the time of the check. */
  readonly found: ChannelState
  /** False if the channel has changed and the reason no longer applies. @default always true */
  readonly isStill?: (stored: ChannelState) => boolean
}

/** Disables a channel. A channel that is already disabled keeps its reason. */
export async function disableChannel(
  management: Management,
  id: string,
  { found, reason, isStill = () => true, ...given }: Disabling,
): Promise<NotificationChannel> {
  let after = found
  const isChanged = await management.channelRegistry.switch(
    id,
    (stored) => {
      if (!stored && !found.in_code) throw unknownChannel(id)
      const present = stored ?? found
      const isDue = present.enabled && isStill(present)
      after = isDue ? { ...present, enabled: false, disabled_reason: reason } : present
      return after
    },
    given,
  )
  const channel = publicChannel(id, after)
  if (!isChanged) return channel
  await refresh(management)
  await managedChannel(management, 'disable', channel, {
    username: given.username,
    data: { reason },
  })
  return channel
}

import { AuditLogError } from '../errors.js'
import type { WaitOptions } from '../store/store.js'
import { unknownChannel } from './channel-registry.js'
import { type Definitions, readDefinitions } from './definitions.js'
import { channelIdOfName } from './in-code.js'
import type { Management } from './manage.js'
import type { ManageOptions, NotificationChannel } from './notification-channel.js'
import { readPeers } from './peers.js'
import { withServersOnly } from '../event/servers-only.js'
import type { ChannelState } from './states.js'

export const invalidChannel = (member: string, problem: string): AuditLogError =>
  new AuditLogError('INVALID_CHANNEL', `${member} ${problem}`, { pointer: `/${member}` })

export const publicChannel = (
  id: string,
  { name, kind, config, enabled, disabled_reason, in_code }: ChannelState,
): NotificationChannel => ({ id, name, kind, config, enabled, disabled_reason, in_code })

/** The state of a channel in code for which nothing is stored. */
const ofCode = (name: string, kind: string): ChannelState => ({
  name,
  kind,
  config: {},
  enabled: true,
  disabled_reason: null,
  in_code: true,
})

/** The channels in the code of this and other running processes, by id, in their stored form. */
export async function readCodeChannels(
  { channels, store }: Pick<Management, 'channels' | 'store'>,
  stored: Definitions['channels'],
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, ChannelState>> {
  const { deliverers } = await readPeers(store, signal)
  const offered = [...deliverers.values()].flatMap((one) => one.channels)
  const inCode = [...offered, ...channels.offered()].filter(({ in_code }) => in_code)
  return new Map(
    inCode.map(({ name, kind }) => {
      const id = channelIdOfName(name)
      return [id, stored.get(id) ?? ofCode(name, kind)]
    }),
  )
}

/**
 * All channels by id. They include disabled channels that are no longer in the code of any process, because these
 * keep their names until they are enabled.
 */
export async function readChannels(
  management: Management,
  { signal }: WaitOptions,
): Promise<ReadonlyMap<string, ChannelState>> {
  const { channels } = await readDefinitions(management.store, { signal })
  return new Map([...(await readCodeChannels(management, channels, signal)), ...channels])
}

/** Throws `UNKNOWN_CHANNEL`. */
export async function findChannel(
  management: Management,
  id: string,
  options: WaitOptions,
): Promise<ChannelState> {
  const found = (await readChannels(management, options)).get(id)
  if (found) return found
  throw unknownChannel(id)
}

/** A channel that was created at run time. Throws `UNKNOWN_CHANNEL`, and `DEFINED_IN_CODE`. */
export async function findCreated(
  management: Management,
  id: string,
  options: WaitOptions,
): Promise<ChannelState> {
  const found = await findChannel(management, id, options)
  if (!found.in_code) return found
  const message = `the channel ${found.name} is defined in the code: change it there`
  throw new AuditLogError('DEFINED_IN_CODE', message)
}

interface About extends Pick<ManageOptions, 'username'> {
  readonly data?: object | undefined
}

/** Records an action on a channel. */
export const managedChannel = (
  { managed }: Management,
  action: string,
  { id, name, kind }: Pick<NotificationChannel, 'id' | 'name' | 'kind'>,
  { username, data }: About,
): Promise<void> =>
  managed(
    `api:notification_channels:${action}`,
    { channel: name, channel_id: id, kind, ...withServersOnly(data) },
    { username },
  )

export const unavailable = (name: string): AuditLogError =>
  new AuditLogError('CHANNEL_UNAVAILABLE', `this process cannot deliver to the channel ${name}`)

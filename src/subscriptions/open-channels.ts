import type { Channel } from './channel.js'
import type { ChannelKind } from './channel-kind.js'
import { channelIdOfName, checkChannel } from './in-code.js'
import { createRate, type WaitForRate } from './rate.js'
import type { Seals } from './seals.js'
import type { ChannelState, OfferedChannel } from './states.js'

/**
 * A channel to which this process can deliver. It is replaced by a new object when its setup changes, and when it is
 * enabled or disabled.
 */
export interface OpenChannel {
  readonly id: string
  readonly name: string
  readonly kind: string
  readonly in_code: boolean
  readonly enabled: boolean
  /** The setup with which it was opened; `undefined` for a channel in code. */
  readonly setup: string | undefined
  readonly channel: Channel
  readonly waitForRate: WaitForRate
}

/** The channels in the code of this process, and the channels of its kinds. */
export interface OpenChannels {
  get(name: string): OpenChannel | undefined
  readonly offered: () => readonly OfferedChannel[]
  /** Opens channels that are new or have changed. */
  update(states: ReadonlyMap<string, ChannelState>): void
}

export interface OpenChannelsOptions {
  readonly channels: Readonly<Record<string, Channel>>
  readonly kinds: Readonly<Record<string, ChannelKind>>
  readonly seals: Seals
  /** Called once for each setup of a channel that cannot be opened. */
  readonly broken: (state: ChannelState, error: Error) => void
}

export const kindOf = ({ kind = 'function' }: Channel): string => kind

/** Result of the last opening of a channel that was created at run time. */
interface Opened {
  /** The setup with which it was opened. */
  readonly setup: string
  readonly state: ChannelState
  /** `undefined` if it cannot be opened. */
  readonly open: OpenChannel | undefined
}

/** The parts of the state that determine how a channel is opened. */
export const setupOf = ({ name, kind, config, sealed }: ChannelState): string =>
  JSON.stringify([name, kind, config, sealed])

const sameUnless = (present: OpenChannel, enabled: boolean): OpenChannel =>
  present.enabled === enabled ? present : { ...present, enabled }

export function createOpenChannels(options: OpenChannelsOptions): OpenChannels {
  const { kinds, seals, broken } = options
  const inCode = new Map<string, OpenChannel>(
    Object.entries(options.channels).map(([name, channel]) => {
      const id = channelIdOfName(name)
      const waitForRate = createRate(channel.rate)
      const kind = kindOf(channel)
      const enabled = true
      const about = { id, name, kind, in_code: true, enabled, setup: undefined }
      return [name, { ...about, channel, waitForRate }]
    }),
  )
  /** Open channels by id. */
  let opened: ReadonlyMap<string, Opened> = new Map()
  let byName: ReadonlyMap<string, OpenChannel> = inCode

  const open = (id: string, state: ChannelState): OpenChannel | undefined => {
    const { name, kind, config, sealed, enabled } = state
    try {
      const channel = kinds[kind]!.open({ config, secrets: seals.open(id, sealed) })
      checkChannel(name, channel)
      const waitForRate = createRate(channel.rate)
      const setup = setupOf(state)
      return { id, name, kind, in_code: false, enabled, setup, channel, waitForRate }
    } catch (error) {
      broken(state, error as Error)
      return undefined
    }
  }
  const reopen = (id: string, state: ChannelState): Opened => {
    const setup = setupOf(state)
    const last = opened.get(id)
    if (last?.setup !== setup) return { setup, state, open: open(id, state) }
    return { setup, state, open: last.open && sameUnless(last.open, state.enabled) }
  }

  return {
    get: (name) => byName.get(name),
    offered: () => [
      ...Array.from(inCode.values(), ({ name, kind }) => ({ name, kind, in_code: true })),
      ...Array.from(opened.values(), ({ state: { name, kind }, open: present }) => ({
        name,
        kind,
        in_code: false,
        ...(!present && { broken: true as const }),
      })),
    ],
    update(states) {
      for (const [name, present] of inCode)
        inCode.set(name, sameUnless(present, states.get(present.id)?.enabled ?? true))
      const next = new Map<string, Opened>()
      for (const [id, state] of states) {
        // A channel in code takes precedence over a created channel with the same name.
        const isOurs = !state.in_code && Object.hasOwn(kinds, state.kind)
        if (isOurs && !inCode.has(state.name)) next.set(id, reopen(id, state))
      }
      opened = next
      const present = [...next.values()].flatMap((one) => one.open ?? [])
      byName = new Map([...inCode, ...present.map((one) => [one.name, one] as const)])
    },
  }
}

import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventStore } from '../store/store.js'
import { DELIVERY_TIMES } from '../coordination/heartbeats.js'
import type { Peers } from './peers.js'
import { changeStates, keyOf, type LeaseState } from './states.js'

export interface LeasesOptions {
  readonly store: EventStore
  /** The id of this process. */
  readonly me: string
  readonly claimed: (channel: string) => void
  /** The channel is given up or lost. Resolves when nothing more is delivered to it, and what was is stored. */
  readonly released: (channel: string, isLost: boolean) => Promise<void>
}

/** The channels that this process holds. */
export interface Leases {
  readonly held: () => ReadonlySet<string>
  /** The epoch of the lease, if this process holds it and does not give it up. */
  readonly epochOf: (channel: string) => number | undefined
  /** Claims the channel, unless another process is faster. */
  claim(channel: string, peers: Peers, signal: AbortSignal): Promise<void>
  /** Gives the channel up, after the delivery under way. */
  readonly release: (channel: string) => Promise<void>
  /** Another process may have the channel. */
  readonly lose: (channel: string) => void
  /** Loses the channels that other processes have. */
  compare(peers: Peers): void
}

export function createLeases({ store, me, claimed, released }: LeasesOptions): Leases {
  const epochs = new Map<string, number>()
  const releasing = new Set<string>()

  const lose = (channel: string): void => {
    if (epochs.delete(channel)) void released(channel, true)
  }
  return {
    held: () => new Set(epochs.keys()),
    epochOf: (channel) => (releasing.has(channel) ? undefined : epochs.get(channel)),
    lose,
    async claim(channel, peers, signal) {
      const key = keyOf('lease', channel)
      const known = peers.leases.get(channel)?.epoch ?? 0
      let epoch: number | undefined
      await changeStates(
        store,
        [key],
        (states) => {
          const lease = (states.get(key) as LeaseState | undefined) ?? { holder: null, epoch: 0 }
          epoch = lease.epoch === known ? known + 1 : undefined
          if (epoch !== undefined) states.set(key, { holder: me, epoch })
        },
        { signal },
      )
      if (epoch === undefined) return
      epochs.set(channel, epoch)
      claimed(channel)
    },
    async release(channel) {
      const epoch = epochs.get(channel)
      if (epoch === undefined || releasing.has(channel)) return
      releasing.add(channel)
      try {
        await released(channel, false)
      } finally {
        epochs.delete(channel)
        releasing.delete(channel)
      }
      const key = keyOf('lease', channel)
      using wait = timeoutSignal(DELIVERY_TIMES.timeoutMs)
      await changeStates(
        store,
        [key],
        (states) => {
          const lease = states.get(key) as LeaseState | undefined
          const isOwn = lease?.holder === me && lease.epoch === epoch
          if (isOwn) states.set(key, { holder: null, epoch })
        },
        { signal: wait.signal },
      )
    },
    compare({ leases }) {
      for (const [channel, epoch] of epochs) {
        const lease = leases.get(channel)
        if (lease?.holder !== me || lease.epoch !== epoch) lose(channel)
      }
    },
  }
}

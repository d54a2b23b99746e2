import { timeoutSignal } from '../async/timeout-signal.js'
import type { EventStore } from '../store/store.js'
import { TIMES } from '../coordination/times.js'
import type { Peers } from './peers.js'
import { changeStates, keyOf, type LeaseState, type StateChange } from './states.js'

export interface LeasesOptions {
  readonly store: EventStore
  /** The id of this process. */
  readonly me: string
  readonly claimed: (channel: string) => void
  /**
   * Called when the channel is released or lost. Resolves when deliveries to it have ended, and its cursors are
   * stored.
   */
  readonly released: (channel: string, isLost: boolean) => Promise<void>
}

/** The channels that this process holds. */
export interface Leases {
  readonly held: () => ReadonlySet<string>
  /** The epoch of the lease, if this process holds it and is not releasing it. */
  readonly epochOf: (channel: string) => number | undefined
  /** Claims the channel, unless another process is faster. */
  claim(channel: string, peers: Peers, signal: AbortSignal): Promise<void>
  /** Gives the channel up, after the delivery under way. */
  readonly release: (channel: string) => Promise<void>
  /** Stops deliveries to a channel that another process may have. */
  readonly lose: (channel: string) => void
  /** Stops deliveries to channels of other processes. */
  compare(peers: Peers): void
}

export function createLeases({ store, me, claimed, released }: LeasesOptions): Leases {
  const epochs = new Map<string, number>()
  const releasing = new Set<string>()

  const lose = (channel: string): void => {
    if (epochs.delete(channel)) void released(channel, true)
  }
  /** Replaces the stored lease by the result of `change`. Keeps the lease if the result is `undefined`. */
  const changeLease = async (
    channel: string,
    change: (lease: LeaseState) => LeaseState | undefined,
    signal: AbortSignal,
  ): Promise<LeaseState | undefined> => {
    const key = keyOf('lease', channel)
    let next: LeaseState | undefined
    const apply = (states: StateChange): void => {
      next = change((states.get(key) as LeaseState | undefined) ?? { holder: null, epoch: 0 })
      if (next) states.set(key, next)
    }
    await changeStates(store, [key], apply, { signal })
    return next
  }
  return {
    held: () => new Set(epochs.keys()),
    epochOf: (channel) => (releasing.has(channel) ? undefined : epochs.get(channel)),
    lose,
    async claim(channel, peers, signal) {
      const known = peers.leases.get(channel)?.epoch ?? 0
      const own = { holder: me, epoch: known + 1 }
      if (!(await changeLease(channel, ({ epoch }) => (epoch === known ? own : undefined), signal)))
        return
      epochs.set(channel, own.epoch)
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
      using wait = timeoutSignal(TIMES.delivery.timeoutMs)
      const free = (lease: LeaseState): LeaseState | undefined =>
        lease.holder === me && lease.epoch === epoch ? { holder: null, epoch } : undefined
      await changeLease(channel, free, wait.signal)
    },
    compare({ leases }) {
      for (const [channel, epoch] of epochs) {
        const lease = leases.get(channel)
        if (lease?.holder !== me || lease.epoch !== epoch) lose(channel)
      }
    },
  }
}

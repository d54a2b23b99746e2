import { randomUUID } from 'node:crypto'
import { createPausingLoop } from '../async/loops.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { createOwnHeartbeats } from '../coordination/heartbeats.js'
import { TIMES } from '../coordination/times.js'
import type { JsonValue } from '../event/event.js'
import type { Microseconds } from '../event/timestamp.js'
import { createLeases, type Leases, type LeasesOptions } from './leases.js'
import { assign, createLivenessView, readPeers } from './peers.js'
import { keyOf, type OfferedChannel } from './states.js'

export interface OwnershipOptions extends Omit<LeasesOptions, 'me'> {
  /** The channels that this process has the code for. */
  readonly channels: () => readonly OfferedChannel[]
  /** Called before the first heartbeat, until it resolves. */
  readonly prepare: (signal: AbortSignal) => Promise<void>
  /**
   * Called after each heartbeat with the revision of the subscriptions and channels. Must not wait for deliveries.
   */
  readonly seen: (revision: number) => void
}

/** Decides which channels this process delivers to. */
export interface Ownership extends Pick<Leases, 'epochOf' | 'lose'> {
  /** False if the last heartbeat may have expired: this process must deliver nothing. */
  readonly isAlive: () => boolean
  /** The store's time, from the last heartbeat and the time since. */
  readonly now: () => Microseconds
  /** Sends the next heartbeat at once, because the channels have changed. */
  readonly beatNow: () => void
  /** Gives all channels up. */
  stop(): Promise<void>
}

/** Pause between checks while the heartbeat of another process is late, so that its end is noticed soon. */
const LATE_MS = 500
/** Time limit for `stop` to store that this process has ended. */
const END_MS = 1000

/** Sends heartbeats, and claims and releases channels so that they are spread evenly over all processes. */
export function startOwnership(options: OwnershipOptions): Ownership {
  const { store, channels, prepare, seen } = options
  const me = randomUUID()
  const own = createOwnHeartbeats(TIMES.delivery)
  const leases = createLeases({ ...options, me })
  const stop = new AbortController()
  const viewOf = createLivenessView()
  let time: { readonly store: Microseconds; readonly own: number } | undefined
  let periodMs: number = TIMES.delivery.everyMs
  let isPrepared = false

  const sendHeartbeat = (signal: AbortSignal): Promise<void> =>
    own.send(async (renewals) => {
      const value = { renewals, channels: channels() } as unknown as JsonValue
      const write = (_: JsonValue | undefined, now: Microseconds): JsonValue => {
        time = { store: now, own: performance.now() }
        return value
      }
      const keepFor = TIMES.delivery.timeoutMs * 1000
      await store.updateState(keyOf('deliverer', me), write, { signal, keepFor })
      // Since the last valid heartbeat, other processes may have taken over the channels.
      if (!own.areValidFor()) for (const channel of leases.held()) leases.lose(channel)
    })
  const beat = async (): Promise<void> => {
    using wait = timeoutSignal(TIMES.delivery.timeoutMs, stop.signal)
    const { signal } = wait
    if (!isPrepared) {
      await prepare(signal)
      isPrepared = true
    }
    await sendHeartbeat(signal)
    const peers = await readPeers(store, signal)
    leases.compare(peers)
    const { isAnyLate, living } = viewOf(peers)
    periodMs = isAnyLate ? LATE_MS : TIMES.delivery.everyMs
    seen(peers.revision)
    const { claim, release } = assign(me, leases.held(), living)
    for (const channel of claim) await leases.claim(channel, peers, signal)
    // A delivery may take longer than the time until the next heartbeat.
    for (const channel of release) void leases.release(channel).catch(() => {})
  }
  const run = async (): Promise<number> => {
    const startedAt = performance.now()
    // The store may not be reachable. The next heartbeat tries again.
    await beat().catch(() => {})
    return periodMs - (performance.now() - startedAt)
  }
  // The process may have no other work than deliveries.
  const loop = createPausingLoop(run, { keepsAlive: true })

  return {
    epochOf: leases.epochOf,
    lose: leases.lose,
    isAlive: () => own.areValidFor(),
    now: () => (time ? time.store + Math.floor((performance.now() - time.own) * 1000) : 0),
    beatNow: loop.now,
    async stop() {
      stop.abort()
      await loop.stop()
      await Promise.allSettled(Array.from(leases.held(), leases.release))
      using wait = timeoutSignal(END_MS)
      const { signal } = wait
      await store.updateState(keyOf('deliverer', me), () => undefined, { signal }).catch(() => {})
    },
  }
}

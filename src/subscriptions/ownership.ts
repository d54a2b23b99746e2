import { randomUUID } from 'node:crypto'
import { createPausingLoop } from '../async/loops.js'
import { timeoutSignal } from '../async/timeout-signal.js'
import { DELIVERY_TIMES } from '../coordination/heartbeats.js'
import { createHeartbeat, type Heartbeat } from './heartbeat.js'
import { createLeases, type Leases, type LeasesOptions } from './leases.js'
import { assign, createLivenessView, readPeers } from './peers.js'
import type { OfferedChannel } from './states.js'

export interface OwnershipOptions extends Omit<LeasesOptions, 'me'> {
  /** The channels that this process has the code for. */
  readonly channels: () => readonly OfferedChannel[]
  /** Called before the first heartbeat, until it resolves. */
  readonly prepare: (signal: AbortSignal) => Promise<void>
  /** Called with the revision of the subscriptions and channels after each heartbeat. Must not wait for deliveries. */
  readonly seen: (revision: number) => void
}

/** Which channels this process delivers to. */
export interface Ownership
  extends Pick<Leases, 'epochOf' | 'lose'>, Pick<Heartbeat, 'isAlive' | 'now'> {
  /** Sends the next heartbeat at once, because the channels have changed. */
  beatNow(): void
  /** Gives all channels up. */
  stop(): Promise<void>
}

/** How often this process looks while the heartbeat of another one is late, to see soon that it has expired. */
const LATE_MS = 500
/** How long `stop` waits to say that this process has ended. */
const END_MS = 1000

/** Sends heartbeats, and claims and releases channels so that they are spread evenly over all processes. */
export function startOwnership(options: OwnershipOptions): Ownership {
  const { store, channels, prepare, seen } = options
  const me = randomUUID()
  const heartbeat = createHeartbeat(store, me, channels)
  const leases = createLeases({ ...options, me })
  const stop = new AbortController()
  const viewOf = createLivenessView()
  let periodMs = DELIVERY_TIMES.everyMs
  let isPrepared = false

  const beat = async (): Promise<void> => {
    using wait = timeoutSignal(DELIVERY_TIMES.timeoutMs, stop.signal)
    const { signal } = wait
    if (!isPrepared) {
      await prepare(signal)
      isPrepared = true
    }
    await heartbeat.send(signal, () => {
      for (const channel of leases.held()) leases.lose(channel)
    })
    const peers = await readPeers(store, signal)
    leases.compare(peers)
    const { isAnyLate, living } = viewOf(peers)
    periodMs = isAnyLate ? LATE_MS : DELIVERY_TIMES.everyMs
    seen(peers.revision)
    const { claim, release } = assign(me, leases.held(), living)
    for (const channel of claim) await leases.claim(channel, peers, signal)
    // A delivery may take longer than the time until the next heartbeat.
    for (const channel of release) void leases.release(channel).catch(() => {})
  }

  const loop = createPausingLoop(
    async () => {
      const startedAt = performance.now()
      // The store may be away. The next heartbeat tries again.
      await beat().catch(() => {})
      return periodMs - (performance.now() - startedAt)
    },
    // The process may do nothing else than deliver.
    { keepsAlive: true },
  )

  return {
    epochOf: leases.epochOf,
    lose: leases.lose,
    isAlive: heartbeat.isAlive,
    now: heartbeat.now,
    beatNow: loop.now,
    async stop() {
      stop.abort()
      await loop.stop()
      await Promise.allSettled(Array.from(leases.held(), leases.release))
      using wait = timeoutSignal(END_MS)
      await heartbeat.end(wait.signal).catch(() => {})
    },
  }
}

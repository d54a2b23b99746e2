import type { EventStore } from '../store/store.js'
import { createSilences } from '../coordination/heartbeats.js'
import { TIMES } from '../coordination/times.js'
import { readAll, readState } from '../store/read-states.js'
import {
  type DelivererState,
  type LeaseState,
  PREFIX,
  REVISION,
  type RevisionState,
} from './states.js'

/** State that all processes on the store have published. */
export interface Peers {
  /** Processes by id. */
  readonly deliverers: ReadonlyMap<string, DelivererState>
  /** Leases by channel. */
  readonly leases: ReadonlyMap<string, LeaseState>
  /** Revision of the subscriptions and channels. */
  readonly revision: number
}

/** The channels that a process should claim and release, so that they are spread evenly. */
export interface Assignment {
  readonly claim: readonly string[]
  readonly release: readonly string[]
}

/** The channels to which the process can deliver. */
const usable = ({ channels }: DelivererState): string[] =>
  channels.filter(({ broken }) => !broken).map(({ name }) => name)

/** Number of channels that each living process holds. */
function holdings({ deliverers, leases }: Peers): Map<string, number> {
  const counts = new Map(Array.from(deliverers.keys(), (id) => [id, 0]))
  for (const { holder } of leases.values()) {
    const count = holder === null ? undefined : counts.get(holder)
    if (count !== undefined) counts.set(holder!, count + 1)
  }
  return counts
}

/**
 * Assigns channels to processes. A channel without a living holder goes to the process that can deliver to it and
 * holds the fewest channels; among equal ones, to the process with the lowest id. A process releases a channel if
 * another process that can deliver to it holds at least two fewer. All processes compute this from the same states,
 * so they agree.
 */
export function assign(me: string, owned: ReadonlySet<string>, peers: Peers): Assignment {
  const { deliverers, leases } = peers
  const counts = holdings(peers)
  const offered = new Map(Array.from(deliverers, ([id, one]) => [id, new Set(usable(one))]))
  const canDeliver = (channel: string): string[] =>
    Array.from(offered.keys()).filter((id) => offered.get(id)!.has(channel))
  const fewest = (ids: readonly string[]): string | undefined =>
    ids.toSorted((a, b) => counts.get(a)! - counts.get(b)! || (a < b ? -1 : 1))[0]
  const channels = new Set(Array.from(deliverers.values()).flatMap(usable))

  const claim: string[] = []
  for (const channel of [...channels].toSorted()) {
    const holder = leases.get(channel)?.holder ?? null
    // A stored lease of this process that it does not hold is older than the loss of its heartbeat.
    const isHeld =
      holder !== null && deliverers.has(holder) && (holder !== me || owned.has(channel))
    if (isHeld) continue
    const next = fewest(canDeliver(channel))
    if (next === undefined) continue
    if (holder !== next) counts.set(next, counts.get(next)! + 1)
    if (next === me) claim.push(channel)
  }
  const release: string[] = []
  for (const channel of [...owned].toSorted()) {
    const other = fewest(canDeliver(channel).filter((id) => id !== me))
    if (other === undefined || counts.get(me)! - counts.get(other)! < 2) continue
    counts.set(me, counts.get(me)! - 1)
    counts.set(other, counts.get(other)! + 1)
    release.push(channel)
  }
  return { claim, release }
}

/** A heartbeat is late if this process has seen it unchanged for longer than this. */
const LATE_AFTER_MS = 1.5 * TIMES.delivery.everyMs
/**
 * Time after which a process counts as ended, if this process has seen its heartbeat unchanged during the whole time.
 * The store removes heartbeats earlier, unless they were sent while the clock was ahead.
 */
const ENDED_AFTER_MS = 3 * TIMES.delivery.timeoutMs

/**
 * Returns a function for each check. It returns the living processes, and whether the heartbeat of another process is
 * late.
 */
export function createLivenessView(): (peers: Peers) => {
  readonly isAnyLate: boolean
  readonly living: Peers
} {
  const silencesOf = createSilences()
  return (peers) => {
    const entries = [...peers.deliverers]
    const silences = silencesOf(entries.map(([id, { renewals }]) => ({ id, heartbeats: renewals })))
    const alive = entries.filter(([id]) => silences.get(id)! <= ENDED_AFTER_MS)
    return {
      isAnyLate: alive.some(([id]) => silences.get(id)! > LATE_AFTER_MS),
      living: { ...peers, deliverers: new Map(alive) },
    }
  }
}

/** Reads the state that all processes have published. */
export async function readPeers(
  store: EventStore,
  signal: AbortSignal | undefined,
): Promise<Peers> {
  const deliverers = await readAll<DelivererState>(store, PREFIX.deliverer, { signal })
  const leases = await readAll<LeaseState>(store, PREFIX.lease, { signal })
  const revision = await readState<RevisionState>(store, REVISION, { signal })
  return { deliverers, leases, revision: revision?.revision ?? 0 }
}

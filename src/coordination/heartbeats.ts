import { TIMES, type Times } from './times.js'

/*
 * A process is alive while its heartbeats arrive. Each heartbeat is a new number in the store. Other processes
 * measure with their own clocks how long the number stays the same, so clocks need not agree.
 */

/** Longest gap between two checks. In a longer gap, such as an outage, no process could send a heartbeat. */
const MAX_GAP_MS = 10_000

/** A sender, such as a process or an open event, with the number of its last heartbeat. */
export interface Heartbeat {
  readonly id: string
  readonly heartbeats: number
}

/**
 * Returns a function that measures the silence of each sender, in milliseconds by its id. It must be called every few
 * seconds. A longer gap between two calls resets all silences. So a changed clock, an outage or a pause of this
 * process makes no sender look dead.
 */
export function createSilences(
  now: () => number = () => performance.now(),
): (heartbeats: readonly Heartbeat[]) => ReadonlyMap<string, number> {
  let known = new Map<string, { readonly heartbeats: number; readonly since: number }>()
  let lastLook = -Infinity
  return (found) => {
    const time = now()
    const isLate = time - lastLook > MAX_GAP_MS
    lastLook = time
    const before = isLate ? undefined : known
    known = new Map(
      found.map(({ id, heartbeats }) => {
        const last = before?.get(id)
        return [id, last?.heartbeats === heartbeats ? last : { heartbeats, since: time }]
      }),
    )
    return new Map(Array.from(known, ([id, { since }]) => [id, time - since]))
  }
}

/** Returns a function that selects the senders that have been silent for longer than `TIMES.work` allows. */
export function createAbandonedCheck(
  now?: () => number,
): (heartbeats: readonly Heartbeat[]) => readonly Heartbeat[] {
  const silencesOf = createSilences(now)
  return (found) => {
    const silences = silencesOf(found)
    return found.filter(({ id }) => silences.get(id)! >= TIMES.work.timeoutMs)
  }
}

/** The heartbeats of this process. */
export interface OwnHeartbeats {
  /** Calls `write` with the next number, which it must store. */
  send(write: (heartbeats: number) => Promise<unknown>): Promise<void>
  /** True if no other process takes over from this one within `ms` milliseconds (default 0). */
  readonly areValidFor: (ms?: number) => boolean
  /** True if a heartbeat should be sent before anything else, because others may soon forget this process. */
  readonly areDue: () => boolean
  /** True once a heartbeat was sent. */
  readonly haveBegun: () => boolean
}

export function createOwnHeartbeats({ everyMs, timeoutMs }: Times): OwnHeartbeats {
  let count = 0
  let sentAt = -Infinity
  return {
    async send(write) {
      // Measured from before the call, so that other processes wait for at least as long as this process relies on
      // the heartbeat.
      const start = performance.now()
      await write(++count)
      sentAt = start
    },
    areValidFor: (ms = 0) => performance.now() + ms < sentAt + timeoutMs,
    areDue: () => performance.now() - sentAt > everyMs,
    haveBegun: () => sentAt > -Infinity,
  }
}

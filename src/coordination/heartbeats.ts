import { TIMES, type Times } from './times.js'

/*
 * A process is alive while its heartbeats come. Each heartbeat is another number in the store. Others measure by their own clock
 * how long they see the same number, so no two clocks need to agree.
 */

/** After a longer gap between two looks, such as an outage, no process could send a heartbeat. */
const MAX_GAP_MS = 10_000

/** A sender, such as a process or an open event, and the number of its last heartbeat. */
export interface Heartbeat {
  readonly id: string
  readonly heartbeats: number
}

/**
 * Returns a function that measures for how long each sender has been silent, in milliseconds by its id. To be called every few
 * seconds. A silence begins anew after a longer gap between two calls: then a changed clock, an outage or a pause of this process
 * makes no sender look dead.
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
  /** True if no process takes over from this one within `ms`, by default now. */
  readonly areValidFor: (ms?: number) => boolean
  /** True if the next one should be sent before anything else, because others may forget this process. */
  readonly areDue: () => boolean
  /** True if one was sent. */
  readonly haveBegun: () => boolean
}

export function createOwnHeartbeats({ everyMs, timeoutMs }: Times): OwnHeartbeats {
  let count = 0
  let sentAt = -Infinity
  return {
    async send(write) {
      // From before the call, so that others wait for at least as long as this process relies on the heartbeat.
      const start = performance.now()
      await write(++count)
      sentAt = start
    },
    areValidFor: (ms = 0) => performance.now() + ms < sentAt + timeoutMs,
    areDue: () => performance.now() - sentAt > everyMs,
    haveBegun: () => sentAt > -Infinity,
  }
}

/** An open live event without a heartbeat for this long is closed. */
export const LIVENESS_TIMEOUT_MS = 20_000
/** The interval of heartbeats for an open live event. */
export const HEARTBEAT_MS = 5000
// After a longer gap between two checks, such as an outage, no process could send a heartbeat.
const MAX_GAP_MS = 10_000

/** An open event and the number of its heartbeats so far. */
export interface Heartbeat {
  readonly id: string
  readonly heartbeats: number
}

/**
 * Makes a check that returns the abandoned open events when it is called every few seconds. It
 * measures the time between checks, so that a changed clock, an outage or a pause of this process
 * does not make a live event look abandoned.
 */
export function createLivenessCheck(
  now: () => number = () => performance.now(),
): (open: readonly Heartbeat[]) => Heartbeat[] {
  let known = new Map<string, { readonly heartbeats: number; readonly since: number }>()
  let lastCheck = -Infinity
  return (open) => {
    const time = now()
    const isLate = time - lastCheck > MAX_GAP_MS
    lastCheck = time
    const before = known
    known = new Map(
      open.map(({ id, heartbeats }) => {
        const last = before.get(id)
        const isUnchanged = last?.heartbeats === heartbeats && !isLate
        return [id, isUnchanged ? last : { heartbeats, since: time }]
      }),
    )
    return open.filter(({ id }) => time - known.get(id)!.since >= LIVENESS_TIMEOUT_MS)
  }
}

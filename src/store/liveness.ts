/** How long an open live event goes on without a sign of those who hold it. */
export const SILENCE_MS = 20_000
/** How often those who hold one give a sign. */
export const BEAT_MS = 5000
// After a longer gap between two looks, such as an outage, nobody has had the chance.
const MAX_GAP_MS = 10_000

/** An open event and its signs of life: a number that rises. */
export interface Beating {
  readonly id: string
  readonly beats: number
}

/**
 * Finds out which open events nobody holds any more, for one who looks every few seconds. Goes by
 * the time between looks, so that no clock which is set, no outage and no pause of this process
 * makes a living one look dead.
 */
export function createSilenceWatch(
  now: () => number = () => performance.now(),
): (open: readonly Beating[]) => Beating[] {
  let seen = new Map<string, { readonly beats: number; readonly since: number }>()
  let lastLook = -Infinity
  return (open) => {
    const time = now()
    const isLate = time - lastLook > MAX_GAP_MS
    lastLook = time
    const before = seen
    seen = new Map(
      open.map(({ id, beats }) => {
        const known = before.get(id)
        const isSilent = known?.beats === beats && !isLate
        return [id, isSilent ? known : { beats, since: time }]
      }),
    )
    return open.filter(({ id }) => time - seen.get(id)!.since >= SILENCE_MS)
  }
}

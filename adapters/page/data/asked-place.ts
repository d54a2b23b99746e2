/* Places for streams at addresses without TLS, where browsers have no locks: the windows ask each other. */

/** The place of a window since a time, as from `Date.now`. */
interface Claim {
  readonly place: number
  readonly since: number
  /** A number of its own, which orders claims of one time. */
  readonly id: number
}

const ASK = 'ask'

const channel = new BroadcastChannel('daybook-streams')

const say = (message: Claim | typeof ASK): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only this origin has the channel
  channel.postMessage(message)
}

/** The claims of this window, each with the function that is called if another window has the place. */
const own = new Map<Claim, () => void>()
/** The places that other windows have named. */
const named = new Set<number>()

const isBefore = (a: Claim, b: Claim): boolean =>
  a.since < b.since || (a.since === b.since && a.id < b.id)

/** Two windows have one place if the first one was slow to answer. The earlier claim holds. */
function settle(claim: Claim): void {
  for (const [mine, lose] of own)
    if (mine.place === claim.place) {
      if (isBefore(mine, claim)) say(mine)
      else {
        own.delete(mine)
        lose()
      }
    }
}

channel.addEventListener('message', ({ data }: MessageEvent<Claim | typeof ASK>) => {
  if (data === ASK) for (const mine of own.keys()) say(mine)
  else {
    named.add(data.place)
    settle(data)
  }
})

const WAIT_MS = 200

/**
 * A free place: the function that gives it back. `lose` is called if another window turns out to have it. Windows that ask at the same time
 * may take one place, so each waits for a time of its own.
 */
export async function askForPlace(
  places: number,
  lose: () => void,
): Promise<(() => void) | undefined> {
  named.clear()
  say(ASK)
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS * (1 + Math.random() * 2)))
  const taken = new Set([...named, ...[...own.keys()].map(({ place }) => place)])
  const place = Array.from({ length: places }, (_, n) => n).find((n) => !taken.has(n))
  if (place === undefined) return undefined
  const claim = { place, since: Date.now(), id: Math.random() }
  own.set(claim, lose)
  say(claim)
  return () => own.delete(claim)
}

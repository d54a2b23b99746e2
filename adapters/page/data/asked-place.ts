/*
 * Places for streams at addresses without TLS. Browsers have no locks there, so the windows communicate with each
 * other.
 */

/** The place of a window since a time, as from `Date.now`. */
interface Claim {
  readonly place: number
  readonly since: number
  /** A random number, which orders claims of the same time. */
  readonly id: number
}

const ASK = 'ask'

/** A place that a window has released. */
interface Release {
  readonly released: number
}

type Message = Claim | Release | typeof ASK

const channel = new BroadcastChannel('daybook-streams')

const say = (message: Message): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only this origin has the channel
  channel.postMessage(message)
}

/** The claims of this window, each with the function that is called if another window has the place. */
const own = new Map<Claim, () => void>()

/**
 * The places of other windows, and when this window last heard of each, as from `Date.now`. They are kept between
 * questions, as a window that is busy answers late.
 */
const heard = new Map<number, number>()

/** A window that has ended without a release does not answer, so that its place becomes free. */
const FORGET_MS = 15_000

const isBefore = (a: Claim, b: Claim): boolean =>
  a.since < b.since || (a.since === b.since && a.id < b.id)

/** Two windows may claim one place if the first window was slow to answer. The earlier claim counts. */
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

channel.addEventListener('message', (event: Event) => {
  const { data } = event as unknown as { readonly data: Message }
  if (data === ASK) for (const mine of own.keys()) say(mine)
  else if ('released' in data) heard.delete(data.released)
  else {
    heard.set(data.place, Date.now())
    settle(data)
  }
})

const WAIT_MS = 200

const isTaken = (place: number): boolean =>
  Date.now() - (heard.get(place) ?? -Infinity) < FORGET_MS ||
  [...own.keys()].some((mine) => mine.place === place)

/**
 * Takes a free place, and returns a function that releases it. `lose` is called if another window turns out to have
 * the place. Windows that start at the same time may take the same place, so each waits for a random time.
 */
export async function askForPlace(
  places: number,
  lose: () => void,
): Promise<(() => void) | undefined> {
  say(ASK)
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS * (1 + Math.random() * 2)))
  const place = Array.from({ length: places }, (_, n) => n).find((n) => !isTaken(n))
  if (place === undefined) return undefined
  const claim = { place, since: Date.now(), id: Math.random() }
  own.set(claim, lose)
  say(claim)
  return () => {
    if (own.delete(claim)) say({ released: place })
  }
}

/* Places for streams at addresses without TLS, where browsers have no locks: the windows ask each other. */

const channel = new BroadcastChannel('daybook-streams')
const ASK = 'ask'

const say = (message: number | typeof ASK): void => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only this origin has the channel
  channel.postMessage(message)
}

/** The places of this window, and those that other windows have named. */
const own = new Set<number>()
const named = new Set<number>()

channel.addEventListener('message', ({ data }: MessageEvent<number | typeof ASK>) => {
  if (data === ASK) for (const place of own) say(place)
  else named.add(data)
})

const WAIT_MS = 200

/** As `takePlace`. Windows that ask at the same time may take one place twice, so each waits for a time of its own. */
export async function askForPlace(places: number): Promise<(() => void) | undefined> {
  named.clear()
  say(ASK)
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS * (1 + Math.random() * 2)))
  const all = Array.from({ length: places }, (_, n) => n)
  const place = all.find((n) => !own.has(n) && !named.has(n))
  if (place === undefined) return undefined
  own.add(place)
  say(place)
  return () => own.delete(place)
}

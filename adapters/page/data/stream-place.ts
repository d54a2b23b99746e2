/*
 * Over HTTP/1.1 a browser opens six connections to a server, for all of its windows together. Each stream keeps one, so four windows may have
 * one, and the others poll.
 */

const PLACES = 4

/** Resolves to the function that ends the lock; `undefined` if another window has it. */
const lock = (name: string): Promise<(() => void) | undefined> =>
  new Promise((resolve) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (granted) =>
        granted ? new Promise<void>(resolve as (end: () => void) => void) : resolve(undefined),
      )
      // Such as in a frame without an origin.
      .catch(() => resolve(undefined))
  })

/** Takes one of the places for streams. Resolves to the function that gives it back; `undefined` if all are taken. */
export async function takePlace(): Promise<(() => void) | undefined> {
  const hasLocks = 'locks' in navigator
  if (!hasLocks) return (await import('./asked-place.js')).askForPlace(PLACES)
  for (let n = 0; n < PLACES; n++) {
    const end = await lock(`daybook-stream-${n}`)
    if (end) return end
  }
  return undefined
}

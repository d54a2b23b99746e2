/*
 * Over HTTP/1.1 a browser opens six connections to a server, for all of its windows together. Each stream keeps one, so four windows may have
 * one, and the others poll.
 */

const PLACES = 4

type End = () => void

/** Resolves to the function that ends the lock; `undefined` if another window has it. */
const lock = (name: string): Promise<End | undefined> =>
  new Promise((resolve) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (granted) =>
        granted ? new Promise<void>(resolve as (end: End) => void) : resolve(undefined),
      )
      // Such as in a frame without an origin.
      .catch(() => resolve(undefined))
  })

/** Takes one of the places for streams. Resolves to the function that gives it back; `undefined` if all are taken. */
async function takePlace(lose: () => void): Promise<End | undefined> {
  if (!('locks' in navigator)) {
    const asked = await import('./asked-place.js').catch(() => undefined)
    return asked?.askForPlace(PLACES, lose)
  }
  for (let n = 0; n < PLACES; n++) {
    const end = await lock(`daybook-stream-${n}`)
    if (end) return end
  }
  return undefined
}

/** Streams if a place is free, else polls; both return the function that ends them, as this does. */
export function streamOrPoll(stream: () => End, poll: () => End): End {
  let isOver = false
  let end: End | undefined
  const begin = async (): Promise<void> => {
    const leave = await takePlace(() => {
      end?.()
      end = poll()
    })
    if (isOver) return leave?.()
    const stop = leave ? stream() : poll()
    end = () => {
      stop()
      leave?.()
    }
  }
  void begin()
  return () => {
    isOver = true
    end?.()
  }
}

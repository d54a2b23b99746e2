/*
 * Over HTTP/1.1 a browser opens six connections to a server, for all of its windows together. Each stream keeps one
 * connection open. So at most four windows have a stream; other windows poll.
 */

const PLACES = 4

type End = () => void

/** Resolves to a function that releases the lock; `undefined` if another window has the lock. */
const lock = (name: string): Promise<End | undefined> =>
  new Promise((resolve) => {
    navigator.locks
      .request(name, { ifAvailable: true }, (granted) =>
        granted ? new Promise<void>(resolve as (end: End) => void) : resolve(undefined),
      )
      // The request rejects, for example, in a frame without an origin.
      .catch(() => resolve(undefined))
  })

/**
 * Takes one of the places for streams. Resolves to a function that releases it; `undefined` if all places are taken.
 */
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

/**
 * Streams if a place is free, else polls. `stream`, `poll` and this function return a function that ends the work.
 */
export function streamOrPoll(stream: () => End, poll: () => End): End {
  let isOver = false
  let end: End | undefined
  const begin = async (): Promise<void> => {
    const leave = await takePlace(() => {
      end?.()
      end = undefined
      void begin()
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

import { untilAborted } from '../errors.js'

/** A queue for the work of several readers. */
export interface Turns {
  /**
   * Calls `work` when its turn comes. `isContended` is true if other readers wait. Rejects with `ABORTED` if the signal
   * aborts first.
   */
  take<Result>(
    work: (isContended: boolean) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result>
}

/** Length of the pause after a turn, as a multiple of the length of the turn. */
const PAUSE = 2

/**
 * Maximum duration of a pause. Also the time after which the next turn starts although the work is not done, so that
 * no reader waits for a slow query.
 */
const MAX_TURN_MS = 1000

/** Creates a queue. While readers wait, each turn is followed by a pause for appends. */
export function createTurns(): Turns {
  const waiting = new Set<() => void>()
  let isTaken = false

  const startNext = (): void => {
    const [start] = waiting
    isTaken = start !== undefined
    if (!start) return
    waiting.delete(start)
    start()
  }

  const myTurn = async (signal: AbortSignal | undefined): Promise<void> => {
    if (!isTaken) {
      isTaken = true
      return
    }
    let start = (): void => {}
    const started = new Promise<void>((resolve) => (start = resolve))
    waiting.add(start)
    try {
      await untilAborted(started, signal)
    } catch (error) {
      // The turn may have come at the same moment. Then the next reader gets it.
      if (!waiting.delete(start)) startNext()
      throw error
    }
  }

  return {
    async take(work, signal) {
      await myTurn(signal)
      const begun = performance.now()
      let isOver = false
      const pass = (): void => {
        if (isOver) return
        isOver = true
        clearTimeout(limit)
        if (waiting.size === 0) startNext()
        else setTimeout(startNext, Math.min(PAUSE * (performance.now() - begun), MAX_TURN_MS))
      }
      const limit = setTimeout(pass, MAX_TURN_MS)
      try {
        return await work(waiting.size > 0)
      } finally {
        pass()
      }
    },
  }
}

import { untilAborted } from '../errors.js'

/** Work of several readers, one after the other. */
export interface Turns {
  /**
   * Calls `work` when it is its turn. `isContended` is true if others wait for theirs. Rejects with `ABORTED` if the
   * signal aborts before.
   */
  take<Result>(
    work: (isContended: boolean) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result>
}

/** The rest after a turn, as a multiple of its time. */
const REST = 2

/** Bounds the rest. A turn that takes longer no longer excludes others, so that no reader waits for a slow query. */
const MAX_TURN_MS = 1000

/** While others wait, each turn is followed by a rest, so that appends have most of the time. */
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
      // If it was started in this moment, the turn is for the next one.
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
        else setTimeout(startNext, Math.min(REST * (performance.now() - begun), MAX_TURN_MS))
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

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import { MISSING, type Reading } from './chunk-loader.js'

/** Work on the index: it may throw {@link MISSING}, and is begun anew then. */
export type Start<Result> = () => Result | Work<Result>

export interface Works {
  /**
   * Does all of them, which are independent of each other, so that what they miss is fetched together. Gives
   * their results in their order.
   */
  all<Result>(starts: readonly Start<Result>[]): Promise<Result[]>
  one<Result>(start: Start<Result>): Promise<Result>
}

// So long a turn keeps the event loop.
const TURN_MS = 5

interface Running<Result> {
  readonly start: Start<Result>
  steps: Work<Result> | undefined
  done: { readonly result: Result } | undefined
}

const isWork = <Result>(value: Result | Work<Result>): value is Work<Result> =>
  typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value

/** `checkTime` throws where the query has taken too long. */
export function createWorks(reading: Reading, checkTime: () => void): Works {
  /** Goes on until it is done or waits for something; what is laid down in between is taken up at once. */
  const goOn = async <Result>(running: Running<Result>, isOver: () => boolean): Promise<void> => {
    if (!running.steps) {
      const begun = running.start()
      if (!isWork(begun)) {
        running.done = { result: begun }
        return
      }
      running.steps = begun
    }
    for (;;) {
      const { noted } = reading
      const next = running.steps.next()
      if (next.done) {
        running.done = { result: next.value }
        return
      }
      if (reading.noted > noted) return
      if (isOver()) await nextTurn()
    }
  }

  const all = async <Result>(starts: readonly Start<Result>[]): Promise<Result[]> => {
    const works: Running<Result>[] = starts.map((start) => ({
      start,
      steps: undefined,
      done: undefined,
    }))
    for (;;) {
      const isOver = turnTimer()
      for (const work of works) {
        if (work.done) continue
        checkTime()
        try {
          await goOn(work, isOver)
        } catch (error) {
          if (error !== MISSING) throw error
          work.steps = undefined
        }
        if (isOver()) await nextTurn()
      }
      if (!(await reading.fetch())) return works.map(({ done }) => done!.result)
    }
  }

  return { all, one: async (start) => (await all([start]))[0]! }
}

/** True once a turn is over, at which another one begins. */
function turnTimer(): () => boolean {
  let end = performance.now() + TURN_MS
  return () => {
    const now = performance.now()
    if (now < end) return false
    end = now + TURN_MS
    return true
  }
}

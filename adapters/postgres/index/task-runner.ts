import { setImmediate as nextTurn } from 'node:timers/promises'
import { DamagedSegment } from '../../../src/store-kit/index/segment-source.js'
import { WAIT, type Work } from '../../../src/store-kit/index/work.js'
import {
  INDEX_CHANGED,
  isWork,
  type Task,
  type Tasks,
} from '../../../src/store-kit/planning/session.js'
import type { ChunkLoader } from './chunk-loader.js'

/** Tasks may block the event loop for this long. */
const SLICE_MS = 5

/**
 * Runs each task until it waits, then fetches what all of them need together. `checkTime` throws if the query has taken too
 * long.
 */
export function createTaskRunner(
  loader: ChunkLoader,
  checkTime: () => void,
  onDamaged: (damaged: DamagedSegment) => void,
): Tasks {
  const fetch = (): Promise<void> =>
    loader.fetch().catch((error: unknown) => {
      if (!(error instanceof DamagedSegment)) throw error
      onDamaged(error)
      throw INDEX_CHANGED
    })

  const all = async <Result>(tasks: readonly Task<Result>[]): Promise<Result[]> => {
    const results: Result[] = []
    let left = [...tasks.map(begin).entries()]
    while (left.length > 0) {
      const isOver = sliceTimer()
      const waiting: typeof left = []
      for (const [i, work] of left) {
        checkTime()
        for (;;) {
          const next = work.next()
          if (next.done) results[i] = next.value
          else if (next.value === WAIT) waiting.push([i, work])
          if (isOver()) await nextTurn()
          if (next.done || next.value === WAIT) break
        }
      }
      if (waiting.length > 0) await fetch()
      left = waiting
    }
    return results
  }
  return { all, one: async (task) => (await all([task]))[0]! }
}

function* begin<Result>(task: Task<Result>): Work<Result> {
  const started = task()
  return isWork(started) ? yield* started : started
}

/** True once a time slice is over; the next one begins then. */
function sliceTimer(): () => boolean {
  let end = performance.now() + SLICE_MS
  return () => {
    const now = performance.now()
    if (now < end) return false
    end = now + SLICE_MS
    return true
  }
}

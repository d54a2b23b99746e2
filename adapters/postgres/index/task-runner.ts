import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Work } from '../../../src/store-kit/index/find-postings.js'
import { isWork, type Task, type Tasks } from '../../../src/store-kit/planning/session.js'
import { CACHE_MISS, type ChunkLoader } from './chunk-loader.js'

/** Tasks may block the event loop for this long. */
const SLICE_MS = 5

interface Running<Result> {
  readonly task: Task<Result>
  steps: Work<Result> | undefined
  done: { readonly result: Result } | undefined
}

/**
 * Runs work that may throw {@link CACHE_MISS} and is started again then. It fetches together what independent tasks miss.
 * `checkTime` throws if the query has taken too long.
 */
export function createTaskRunner(loader: ChunkLoader, checkTime: () => void): Tasks {
  /** Continues a task until it is done or has noted a request. */
  const resume = async <Result>(running: Running<Result>, isOver: () => boolean): Promise<void> => {
    if (!running.steps) {
      const started = running.task()
      if (!isWork(started)) {
        running.done = { result: started }
        return
      }
      running.steps = started
    }
    for (;;) {
      const noted = loader.noted()
      const next = running.steps.next()
      if (next.done) {
        running.done = { result: next.value }
        return
      }
      if (loader.noted() > noted) return
      if (isOver()) await nextTurn()
    }
  }

  const all = async <Result>(tasks: readonly Task<Result>[]): Promise<Result[]> => {
    const all: Running<Result>[] = tasks.map((task) => ({
      task,
      steps: undefined,
      done: undefined,
    }))
    for (;;) {
      const isOver = sliceTimer()
      for (const running of all) {
        if (running.done) continue
        checkTime()
        try {
          await resume(running, isOver)
        } catch (error) {
          if (error !== CACHE_MISS) throw error
          running.steps = undefined
        }
        if (isOver()) await nextTurn()
      }
      if (!(await loader.fetch())) return all.map(({ done }) => done!.result)
    }
  }

  return { all, one: async (task) => (await all([task]))[0]! }
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

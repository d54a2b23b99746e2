import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'

/**
 * Makes calls at a constant rate until `isOver`, whether earlier calls have been answered or not.
 * `call` gets the moment at which it was due, which is random within its interval, so that several
 * processes do not run in step. Resolves to the number of calls when all have been answered.
 */
export async function callAtRate(
  perSecond: number,
  isOver: () => boolean,
  call: (due: number) => Promise<void>,
): Promise<number> {
  const calls: Promise<void>[] = []
  const interval = 1000 / perSecond
  for (let slot = performance.now(); !isOver(); slot += interval) {
    const due = slot + Math.random() * interval
    await nextTurn()
    while (performance.now() < due) await delay(Math.ceil(due - performance.now()))
    calls.push(call(due))
  }
  await Promise.all(calls)
  return calls.length
}

/** Event loop delay in milliseconds; about one where nothing blocks the loop. */
export interface LoopDelay {
  readonly p99: number
  readonly max: number
}

/** Measures the event loop delay, from `afterMs` on until the returned function is called. */
export function watchEventLoop(afterMs: number): () => LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: 1 })
  const timer = setTimeout(() => histogram.enable(), afterMs)
  return () => {
    clearTimeout(timer)
    histogram.disable()
    return { p99: histogram.percentile(99) / 1e6, max: histogram.max / 1e6 }
  }
}

import { setImmediate as turnEnd } from 'node:timers/promises'

/** A run for several callers. */
interface SharedRun<Value> {
  readonly value: Promise<Value>
  /** Called for each caller. The run's signal aborts once the signals of all callers have. */
  join(signal: AbortSignal): void
  readonly isAborted: () => boolean
}

function startRun<Value>(begin: (signal: AbortSignal) => Promise<Value>): SharedRun<Value> {
  const stop = new AbortController()
  const leaving = new Map<AbortSignal, () => void>()
  let waiting = 0
  const value = begin(stop.signal).finally(() => {
    for (const [signal, leave] of leaving) signal.removeEventListener('abort', leave)
  })
  return {
    value,
    join(signal) {
      waiting += 1
      const leave = (): void => {
        waiting -= 1
        if (waiting === 0) stop.abort(signal.reason)
      }
      if (signal.aborted) return leave()
      leaving.set(signal, leave)
      signal.addEventListener('abort', leave, { once: true })
    },
    isAborted: () => stop.signal.aborted,
  }
}

/**
 * Runs once for all calls with the same key in one turn of the event loop. The run starts after the
 * last of these calls, so that its result is as fresh as that of a run of their own. Its signal aborts
 * once the signals of all these calls have.
 */
export function coalescePerTurn<Value>(): (
  key: string,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Value>,
) => Promise<Value> {
  const pending = new Map<string, SharedRun<Value>>()
  return (key, signal, run) => {
    let shared = pending.get(key)
    if (!shared || shared.isAborted()) {
      const started = startRun(async (stop) => {
        await turnEnd()
        if (pending.get(key) === started) pending.delete(key)
        return run(stop)
      })
      pending.set(key, started)
      shared = started
    }
    shared.join(signal)
    return shared.value
  }
}

/** A run for all callers of one turn of the event loop. */
interface SharedRun<Value> {
  readonly value: Promise<Value>
  /** The signals of the callers. */
  readonly signals: AbortSignal[]
}

const isAborted = ({ aborted }: AbortSignal): boolean => aborted

/**
 * Calls `run` with a signal that aborts once all of these signals have aborted. A single signal is passed on
 * unchanged, because creating another signal would be the main cost of this function.
 */
function untilAllAbort<Value>(
  signals: readonly AbortSignal[],
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const isOne = signals.length === 1 || signals.every(isAborted)
  return isOne ? run(signals[0]!) : untilEachAborts(signals, run)
}

async function untilEachAborts<Value>(
  signals: readonly AbortSignal[],
  run: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stop = new AbortController()
  const onAbort = ({ target }: Event): void => {
    if (signals.every(isAborted)) stop.abort((target as AbortSignal).reason)
  }
  for (const signal of signals) signal.addEventListener('abort', onAbort)
  try {
    return await run(stop.signal)
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', onAbort)
  }
}

/**
 * Runs once for all calls with the same key in one turn of the event loop. The run starts after the last of these
 * calls, so its result is fresh for each of them. Its signal aborts once the signals of all these calls have aborted.
 */
export function coalescePerTurn<Value>(): (
  key: string,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Value>,
) => Promise<Value> {
  const pending = new Map<string, SharedRun<Value>>()

  return (key, signal, run) => {
    const joined = pending.get(key)
    if (joined && !joined.signals.every(isAborted)) {
      joined.signals.push(signal)
      return joined.value
    }
    const signals = [signal]
    const value = new Promise<Value>((resolve) => {
      setImmediate(() => {
        if (pending.get(key)?.signals === signals) pending.delete(key)
        resolve(untilAllAbort(signals, run))
      })
    })
    pending.set(key, { value, signals })
    return value
  }
}

import { setImmediate as turnEnd } from 'node:timers/promises'

/**
 * Runs once for all calls with the same key in one turn of the event loop. The run starts after the
 * last of these calls, so that its result is as fresh as that of a run of their own.
 */
export function coalescePerTurn<Value>(): (
  key: string,
  run: () => Promise<Value>,
) => Promise<Value> {
  const pending = new Map<string, Promise<Value>>()
  return (key, run) => {
    const known = pending.get(key)
    if (known) return known
    const value = turnEnd().then(() => {
      pending.delete(key)
      return run()
    })
    pending.set(key, value)
    return value
  }
}

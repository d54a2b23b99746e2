import { setImmediate as turnEnd } from 'node:timers/promises'

/**
 * Shares one run between the calls with the same key that are made in one turn of the event loop. It begins
 * after the last of them, so each is given what a run of its own could have given.
 */
export function oncePerTurn<Value>(): (key: string, run: () => Promise<Value>) => Promise<Value> {
  const coming = new Map<string, Promise<Value>>()
  return (key, run) => {
    const known = coming.get(key)
    if (known) return known
    const value = turnEnd().then(() => {
      coming.delete(key)
      return run()
    })
    coming.set(key, value)
    return value
  }
}

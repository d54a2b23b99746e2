import { type OpenRing, openRing, ringAfter, untilUnchanged } from './key-ring.js'
import type { KeyTable } from './key-table.js'
import type { Limits } from './limits.js'
import type { Master } from './master.js'
import { beginRotation, endRotation, rewrapKeys } from './rotation.js'
import { keysUnavailable } from './wrapping.js'

/** Unwrapped rings of a table. */
export interface Rings {
  /**
   * Calls `act` with the ring, which is read and unwrapped at the first call; again with a ring that is read anew while `act` returns
   * `undefined` because the ring has changed. Rejects with `KEYS_UNAVAILABLE` if the master key is not that of the ring.
   */
  use<Result>(act: (ring: OpenRing) => Promise<Result | undefined>): Promise<Result>
  /** Wraps everything with another master key, which is used from then on. Returns the number of keys. */
  rotate(next: Master, signal: AbortSignal): Promise<number>
  forget(): void
}

export function createRings(table: KeyTable, given: Master, limits: Limits): Rings {
  let master = given
  let current: Promise<OpenRing> | undefined

  const loadOnce = async (signal: AbortSignal): Promise<OpenRing | undefined> => {
    const row = await table.ring(signal)
    if (row) return openRing(row, master)
    if (!(await table.isEmpty(signal)))
      throw keysUnavailable(`the ${table.name} store has keys, but lacks the row that unwraps them`)
    await table.replaceRing(await ringAfter(undefined, master), signal)
    return undefined
  }

  /** The stored ring, which is made if there is none. Several calls wait for it, so the signal of none of them ends it. */
  const load = (): Promise<OpenRing> =>
    limits.run((signal) => untilUnchanged(() => loadOnce(signal)))

  const reload = (): Promise<OpenRing> => {
    const loading = load()
    current = loading
    loading.catch(() => {
      if (current === loading) current = undefined
    })
    return loading
  }

  return {
    use: (act) =>
      untilUnchanged(async (attempt) =>
        act(await (attempt === 0 ? (current ?? reload()) : reload())),
      ),
    async rotate(next, signal) {
      const ring = await beginRotation(table, master, next, signal)
      master = next
      current = Promise.resolve(ring)
      const count = await rewrapKeys(table, ring, signal)
      await endRotation(table, ring, signal)
      await reload()
      return count
    },
    forget: () => void (current = undefined),
  }
}

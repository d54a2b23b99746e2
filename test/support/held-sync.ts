import fs from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SyncFile } from '../../adapters/sqlite/connection/wal-sync.js'

type Done = Parameters<SyncFile>[1]

/** A disk of a store that the test controls. Pass `syncFile` to `createSqliteStore`. */
export interface HeldSync {
  readonly syncFile: SyncFile
  /** Syncs that begin from now on do not end. */
  hold(): void
  /** Resolves when a sync is held. */
  untilHeld(): Promise<void>
  /** Ends the held syncs, and holds no more. */
  release(): void
  /** Lets the held syncs fail, or else the next one. The disk reports a failure once. */
  fail(): void
  /** The number of syncs that have begun. */
  count(): number
}

export const syncError = (): Error => Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })

export function holdSync(): HeldSync {
  let isHolding = false
  let failures = 0
  let begun = 0
  let held: { readonly fd: number; readonly done: Done }[] = []
  return {
    syncFile(fd, done) {
      begun += 1
      if (isHolding) held.push({ fd, done })
      else if (failures > 0) {
        failures -= 1
        setImmediate(done, syncError())
      } else fs.fdatasync(fd, done)
    },
    hold: () => void (isHolding = true),
    async untilHeld() {
      while (held.length === 0) await nextTurn()
    },
    release() {
      isHolding = false
      for (const { fd, done } of held.splice(0)) fs.fdatasync(fd, done)
    },
    fail() {
      isHolding = false
      if (held.length === 0) failures += 1
      for (const { done } of held) done(syncError())
      held = []
    },
    count: () => begun,
  }
}

import { createWatchers } from '../../../src/store-kit/watchers.js'
import type { SqliteDatabase } from './database.js'

/** Calls hints when a commit of this connection or another may have made events visible. */
export interface CommitWatcher {
  /** Returns a function that removes the hint. */
  add(hint: () => void): () => void
  /** Call it after this connection has committed. */
  readonly hint: () => void
  /** Removes all hints. */
  stop(): void
}

// How often to check for commits of other connections; a check takes some microseconds.
const CHECK_MS = 50

export function createCommitWatcher(database: SqliteDatabase): CommitWatcher {
  const watchers = createWatchers()
  let timer: NodeJS.Timeout | undefined
  let lastVersion: unknown

  // Changes when another connection has committed: https://www.sqlite.org/pragma.html#pragma_data_version
  const version = (): unknown => {
    try {
      return database.pragma('data_version', { simple: true })
    } catch {
      return lastVersion
    }
  }
  const check = (): void => {
    const before = lastVersion
    lastVersion = version()
    if (lastVersion !== before) watchers.hint()
  }
  const stopIfUnused = (): void => {
    if (watchers.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    add(hint) {
      if (!database.open) return () => {}
      if (!timer) {
        lastVersion = version()
        timer = setInterval(check, CHECK_MS).unref()
      }
      const remove = watchers.add(hint)
      return () => {
        remove()
        stopIfUnused()
      }
    },
    hint: () => watchers.hint(),
    stop() {
      watchers.clear()
      stopIfUnused()
    },
  }
}

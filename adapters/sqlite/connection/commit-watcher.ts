import { createWatchers } from '../../../src/store-kit/watchers.js'
import type { SqliteDatabase } from './database.js'

/** Tells those who watch that events may have become visible, through this connection or another. */
export interface CommitWatcher {
  add(hint: () => void): () => void
  /** This connection has kept events. */
  readonly hint: () => void
  /** Takes all hints off. */
  stop(): void
}

// How often other connections' commits are looked for: a read of some microseconds each time.
const LOOK_MS = 50

export function createCommitWatcher(database: SqliteDatabase): CommitWatcher {
  const watchers = createWatchers()
  let looking: NodeJS.Timeout | undefined
  let seen: unknown

  // Changes when another connection has committed: https://www.sqlite.org/pragma.html#pragma_data_version
  const version = (): unknown => {
    try {
      return database.pragma('data_version', { simple: true })
    } catch {
      return seen
    }
  }
  const look = (): void => {
    const before = seen
    seen = version()
    if (seen !== before) watchers.hint()
  }
  const rest = (): void => {
    if (watchers.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  return {
    add(hint) {
      if (!database.open) return () => {}
      if (!looking) {
        seen = version()
        looking = setInterval(look, LOOK_MS).unref()
      }
      const remove = watchers.add(hint)
      return () => {
        remove()
        rest()
      }
    },
    hint: () => watchers.hint(),
    stop() {
      watchers.clear()
      rest()
    },
  }
}

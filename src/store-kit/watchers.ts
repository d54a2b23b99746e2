type Hint = (consistencyToken?: string) => void

/** The hints that a store calls when events become visible, for its `watch`. */
export interface Watchers {
  /** Returns a function that removes the hint. */
  add(hint: Hint): () => void
  /** Calls every hint. One that throws stops neither the others nor the caller. */
  hint(consistencyToken?: string): void
  clear(): void
  readonly size: number
}

export function createWatchers(): Watchers {
  // Objects, so that a function added twice is called twice.
  const hints = new Set<{ readonly hint: Hint }>()
  return {
    add(hint) {
      const watcher = { hint }
      hints.add(watcher)
      return () => void hints.delete(watcher)
    },
    hint(consistencyToken) {
      for (const { hint } of hints) {
        try {
          hint(consistencyToken)
        } catch {
          // Followers also poll, so a lost hint only delays them.
        }
      }
    },
    clear: () => hints.clear(),
    get size() {
      return hints.size
    },
  }
}

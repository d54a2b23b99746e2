/** The hints that a store calls when events become visible, for its `watch`. */
export interface Watchers {
  /** Returns a function that removes the hint. */
  add(hint: () => void): () => void
  /** Calls every hint. One that throws stops neither the others nor the caller. */
  hint(): void
  clear(): void
  readonly size: number
}

export function createWatchers(): Watchers {
  // Objects, so that a function added twice is called twice.
  const hints = new Set<{ readonly hint: () => void }>()
  return {
    add(hint) {
      const watcher = { hint }
      hints.add(watcher)
      return () => void hints.delete(watcher)
    },
    hint() {
      for (const { hint } of hints) {
        try {
          hint()
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

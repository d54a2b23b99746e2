/** Looks again and again, by one timer that keeps no process alive. */
export interface Turns {
  /** No look begins from then on; resolves when the one that goes on is over. */
  stop(): Promise<void>
}

// Of several processes one is first: the others find its turn taken.
const MAX_JITTER_MS = 5000

const jitter = (ms: number): number => Math.random() * Math.min(ms / 10, MAX_JITTER_MS)

/** `look`, which must not reject, gives the milliseconds until the next one. */
export function startTurns(look: () => Promise<number>, firstMs: number): Turns {
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined
  let stopped = false
  const wait = (ms: number): void => {
    if (stopped) return
    timer = setTimeout(run, Math.ceil(ms + jitter(ms)))
    timer.unref()
  }
  const run = (): void => {
    looking = look().then(wait)
  }
  wait(firstMs)
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

import { callInTurns } from '../../async/in-turns.js'

/** A shared timer. */
export interface KeepAliveTimer {
  /** Calls `listener` once per period. Returns a function that removes it. */
  add(listener: () => void): () => void
}

/** The timer runs while there are listeners. */
export function createKeepAliveTimer(periodMs: number): KeepAliveTimer {
  const listeners = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  return {
    add(listener) {
      listeners.add(listener)
      timer ??= setInterval(() => {
        void callInTurns(listeners, (each) => each())
      }, periodMs)
      return () => {
        listeners.delete(listener)
        if (listeners.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

/** The outcome of `next()`. */
type Outcome<Chunk> = { readonly result: IteratorResult<Chunk, void> } | { readonly error: unknown }

/**
 * Yields the chunks, and `comment` at each tick of the timer while waiting for the next chunk. A chunk is requested
 * only when the consumer asks for it; a consumer that does not ask gets no comments either.
 */
export async function* withKeepAlive<Chunk>(
  chunks: AsyncGenerator<Chunk, void, void>,
  comment: Chunk,
  timer: KeepAliveTimer,
): AsyncGenerator<Chunk, void, void> {
  let outcome: Outcome<Chunk> | undefined
  let wake = (): void => {}
  const settle = (settled: Outcome<Chunk>): void => {
    outcome = settled
    wake()
  }
  const requestNext = (): void => {
    outcome = undefined
    chunks.next().then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    )
  }
  const stop = timer.add(() => wake())
  try {
    requestNext()
    for (;;) {
      if (!outcome)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (!outcome) {
        yield comment
        continue
      }
      if ('error' in outcome) throw outcome.error
      if (outcome.result.done) return
      yield outcome.result.value
      requestNext()
    }
  } finally {
    stop()
    await chunks.return()
  }
}

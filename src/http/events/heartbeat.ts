/** Ticks for all who listen, with one timer. */
export interface Heartbeat {
  /** Calls `beat` now and then, until the function given is called. */
  add(beat: () => void): () => void
}

/** The timer runs while somebody listens. */
export function createHeartbeat(periodMs: number): Heartbeat {
  const beats = new Set<() => void>()
  let timer: NodeJS.Timeout | undefined
  return {
    add(beat) {
      beats.add(beat)
      timer ??= setInterval(() => {
        for (const other of beats) other()
      }, periodMs)
      return () => {
        beats.delete(beat)
        if (beats.size > 0) return
        clearInterval(timer)
        timer = undefined
      }
    },
  }
}

/** What came of asking for a chunk. */
type Answer<Chunk> = { readonly result: IteratorResult<Chunk, void> } | { readonly error: unknown }

/**
 * The chunks as they come, and `comment` at each beat that comes before the next one. A chunk is asked for
 * when it is wanted, not before; a consumer that does not ask is sent no comments either.
 */
export async function* withHeartbeat<Chunk>(
  chunks: AsyncGenerator<Chunk, void, void>,
  comment: Chunk,
  heartbeat: Heartbeat,
): AsyncGenerator<Chunk, void, void> {
  let answer: Answer<Chunk> | undefined
  let wake = (): void => {}
  const settle = (settled: Answer<Chunk>): void => {
    answer = settled
    wake()
  }
  const ask = (): void => {
    answer = undefined
    chunks.next().then(
      (result) => settle({ result }),
      (error: unknown) => settle({ error }),
    )
  }
  const stop = heartbeat.add(() => wake())
  try {
    ask()
    for (;;) {
      if (!answer)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      if (!answer) {
        yield comment
        continue
      }
      if ('error' in answer) throw answer.error
      if (answer.result.done) return
      yield answer.result.value
      ask()
    }
  } finally {
    stop()
    await chunks.return()
  }
}

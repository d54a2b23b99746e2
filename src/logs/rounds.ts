import { createPausingLoop } from '../async/loops.js'
import { pause } from '../async/pause.js'
import { throwIfAborted } from '../errors.js'
import type { LogStores } from '../store/log-stores.js'

export interface RoundsOptions {
  readonly stores: Pick<LogStores, 'keys'>
  /** Minimum time from the start of a round to the start of the next. */
  readonly everyMs: number
  /** Works on one log. */
  readonly turn: (key: string, signal: AbortSignal) => Promise<void>
  readonly onError: (error: unknown) => void
}

const KEYS_PAGE = 100
/**
 * Length of the pause after a turn, as a multiple of the turn's duration. So the turns take at most a fifth of the
 * time.
 */
const REST = 4
/** The pause before the first round. */
const FIRST_MS = 1000

/**
 * Gives each existing log a turn, one after another, in repeated rounds. Needs one timer for any number of logs. A
 * failed turn does not stop the round. Returns a function that stops the rounds and resolves when the current turn
 * has ended.
 */
export function startRounds({
  stores,
  everyMs,
  turn,
  onError,
}: RoundsOptions): () => Promise<void> {
  const stop = new AbortController()
  const { signal } = stop

  const takeTurn = async (key: string): Promise<void> => {
    const start = performance.now()
    try {
      await turn(key, signal)
    } catch (error) {
      if (!signal.aborted) onError(error)
    }
    await pause(REST * (performance.now() - start), signal, false)
  }

  const round = async (): Promise<void> => {
    let after: string | undefined
    for (;;) {
      const keys = await stores.keys({ after, limit: KEYS_PAGE, signal })
      for (const key of keys) {
        throwIfAborted(signal)
        await takeTurn(key)
      }
      if (keys.length < KEYS_PAGE) return
      after = keys.at(-1)
    }
  }

  const run = async (): Promise<number> => {
    const start = performance.now()
    await round().catch((error: unknown) => {
      if (!signal.aborted) onError(error)
    })
    return start + everyMs - performance.now()
  }

  const loop = createPausingLoop(run, { firstMs: FIRST_MS })
  return async () => {
    stop.abort()
    await loop.stop()
  }
}

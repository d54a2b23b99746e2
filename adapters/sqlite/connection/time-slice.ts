import type { WaitOptions } from '../../../src/store/store.js'
import type { Connection } from './connection.js'

/** So long one turn of work may keep the event loop. */
export const TIME_SLICE_MS = 3
/** And so long in a transaction: the commit comes on top. */
export const WRITE_SLICE_MS = 1
// Between two transactions the rest is so many times as long as they took, within bounds.
const PAUSE_FACTOR = 3
const MIN_PAUSE_MS = 2
const MAX_PAUSE_MS = 50

/**
 * Goes from step to step, at most so many, until there is none left, which a step tells with false,
 * or the turn is over, which a long step can ask for. True where there is more to do.
 */
export function runTimeSlice(
  step: (isOver: () => boolean) => boolean,
  { ms = TIME_SLICE_MS, mostSteps = Infinity }: { ms?: number; mostSteps?: number } = {},
): boolean {
  const end = performance.now() + ms
  const isOver = (): boolean => performance.now() >= end
  let hasMore = step(isOver)
  for (let steps = 1; hasMore && steps < mostSteps && !isOver(); steps++) hasMore = step(isOver)
  return hasMore
}

/** Turn after turn, each in a transaction, until one has no more to do; others hardly notice. */
export async function writeInTimeSlices<Done extends { readonly hasMore: boolean }>(
  connection: Connection,
  turn: () => Done,
  onCommit: (done: Done) => void,
  options: WaitOptions,
): Promise<void> {
  for (;;) {
    const start = performance.now()
    const done = await connection.write(turn, options)
    onCommit(done)
    if (!done.hasMore) return
    const rest = PAUSE_FACTOR * (performance.now() - start)
    await connection.pause(options, Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, rest)))
  }
}

import type { WaitOptions } from '../../../src/store/store.js'
import { TIME_SLICE_MS } from '../../../src/filter/time-slices.js'
import type { Connection } from './connection.js'

/** The time slice of a write transaction; its commit takes additional time. */
export const WRITE_SLICE_MS = 1
// The pause after a transaction is this many times as long as the transaction took, within bounds.
const PAUSE_FACTOR = 3
const MIN_PAUSE_MS = 2
const MAX_PAUSE_MS = 50

/**
 * Calls `step` until it returns false, the time slice is over, or it was called `maxSteps` times. A long
 * step can check `isOver` itself. Returns true if there is more to do.
 */
export function runTimeSlice(
  step: (isOver: () => boolean) => boolean,
  { ms = TIME_SLICE_MS, maxSteps = Infinity }: { ms?: number; maxSteps?: number } = {},
): boolean {
  const end = performance.now() + ms
  const isOver = (): boolean => performance.now() >= end
  let hasMore = step(isOver)
  for (let steps = 1; hasMore && steps < maxSteps && !isOver(); steps++) hasMore = step(isOver)
  return hasMore
}

/**
 * Calls `slice`, which runs one write transaction, until it has no more to do. Pauses between the calls, so that other
 * connections get the lock.
 */
export async function writeInTimeSlices(
  connection: Pick<Connection, 'pause'>,
  slice: () => Promise<boolean>,
  options: WaitOptions,
): Promise<void> {
  for (;;) {
    const start = performance.now()
    const hasMore = await slice()
    if (!hasMore) return
    const ms = PAUSE_FACTOR * (performance.now() - start)
    await connection.pause(options, Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, ms)))
  }
}

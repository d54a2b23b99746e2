import type { WaitOptions } from '../../../src/store/store.js'
import type { Connection } from './connection.js'

/** So long one turn of work may keep the event loop. */
export const TURN_MS = 3
/** And so long in a transaction: the commit comes on top. */
export const WRITE_MS = 1
// Between two transactions the rest is so many times as long as they took, within bounds.
const REST = 3
const MIN_REST_MS = 2
const MAX_REST_MS = 50

/**
 * Goes from step to step, at most so many, until there is none left, which a step tells with false,
 * or the turn is over, which a long step can ask for. True where there is more to do.
 */
export function oneTurn(
  step: (isOver: () => boolean) => boolean,
  { ms = TURN_MS, mostSteps = Infinity }: { ms?: number; mostSteps?: number } = {},
): boolean {
  const end = performance.now() + ms
  const isOver = (): boolean => performance.now() >= end
  let hasMore = step(isOver)
  for (let steps = 1; hasMore && steps < mostSteps && !isOver(); steps++) hasMore = step(isOver)
  return hasMore
}

/** Turn after turn, each in a transaction, until one has no more to do; others hardly notice. */
export async function writeInTurns<Done extends { readonly hasMore: boolean }>(
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
    const rest = REST * (performance.now() - start)
    await connection.gap(options, Math.min(MAX_REST_MS, Math.max(MIN_REST_MS, rest)))
  }
}

import { createPausingLoop } from '../async/loops.js'
import type { Background } from '../store/background.js'

/** Moments at which a store that is closed while it is not used is sealed. */
export type RoundSource = Pick<Background, 'onLook' | 'onRelease'>

/** Interval of the rounds, and so of the signatures. */
export const EVERY_MS = 1000

/**
 * Seals once a second. A store that is closed while it is not used is sealed when its owner looks after it, and before it is closed. Returns a function that ends
 * this.
 */
export function startSealing(
  background: RoundSource | undefined,
  { seal, release }: Readonly<Record<'seal' | 'release', () => Promise<unknown>>>,
): () => Promise<void> {
  const round = async (): Promise<number> => {
    await seal()
    return EVERY_MS
  }
  if (!background?.onLook) return createPausingLoop(round, { firstMs: 0 }).stop
  let isStopped = false
  const unlessStopped = async (work: () => Promise<unknown>): Promise<unknown> =>
    isStopped ? undefined : work()
  background.onLook(() => void unlessStopped(seal))
  background.onRelease?.(() => unlessStopped(release))
  void seal()
  return async () => {
    isStopped = true
  }
}

/** A function that runs each work after those before it have ended. */
export function createQueue(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let running: Promise<unknown> = Promise.resolve()
  return (work) => {
    const next = running.then(work)
    running = next.catch(() => {})
    return next
  }
}

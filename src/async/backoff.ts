/** How long a loop in the background waits after the store has failed or lags behind, in milliseconds. */
export const RETRY_MS = 1000

/** The pauses between attempts, in milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
}

/** Milliseconds from the first pause on; each pause is twice as long as the one before, up to the longest. `failures` counts from 0. */
export const backoffMs = (failures: number, { firstMs, maxMs }: Backoff): number =>
  Math.min(firstMs * 2 ** Math.min(failures, 30), maxMs)

/** At random from half of `backoffMs` to all of it, so that processes do not try again at the same time. */
export const randomBackoffMs = (failures: number, backoff: Backoff): number =>
  backoffMs(failures, backoff) * (0.5 + Math.random() / 2)

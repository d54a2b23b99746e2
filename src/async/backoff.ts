/** Pause of a background loop after the store has failed or lags behind, in milliseconds. */
export const RETRY_MS = 1000

/** The pauses between attempts, in milliseconds. */
export interface Backoff {
  readonly firstMs: number
  readonly maxMs: number
}

/**
 * The pause after a number of failures in a row, counted from 0, in milliseconds. Each pause is twice as long as the
 * one before, up to the longest.
 */
export const backoffMs = (failures: number, { firstMs, maxMs }: Backoff): number =>
  Math.min(firstMs * 2 ** Math.min(failures, 30), maxMs)

/** A random part of `backoffMs`, at least half of it, so that processes do not try again at the same time. */
export const randomBackoffMs = (failures: number, backoff: Backoff): number =>
  backoffMs(failures, backoff) * (0.5 + Math.random() / 2)

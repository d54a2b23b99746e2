import type { GroupTally, TalliedGroup } from './group-tally.js'
import { CONFIDENCE } from './number-samples.js'

/** The part of the log that a tally has read. */
export interface Sample {
  readonly tally: Pick<GroupTally, 'read' | 'slices' | 'squares'>
  /** Number of all slices. Only some of them were read. */
  readonly slices: number
  /** Number of all matching events; `undefined` if it is not known exactly. */
  readonly total: number | undefined
}

/** An estimated number of events, and half of its 95 % confidence interval. */
export interface Estimate {
  readonly count: number
  readonly error: number
}

/** Rounds an estimate to the digits that its error supports. */
function rounded(count: number, error: number): number {
  const unit = error < 1 ? 1 : 10 ** Math.floor(Math.log10(error))
  return Math.round(count / unit) * unit
}

/**
 * Scales the figures of a group. With an exact total, it uses the ratio estimator of cluster sampling, with the
 * slices as clusters. Without one, each slice stands for the same number of unread slices.
 */
export function estimateCount(
  { tally, slices, total }: Sample,
  { count, squares, products }: Pick<TalliedGroup, 'count' | 'squares' | 'products'>,
): Estimate {
  const sampled = tally.slices
  const factor = total === undefined ? slices / sampled : total / Math.max(1, tally.read)
  const ratio = count / (total === undefined ? sampled : Math.max(1, tally.read))
  const residuals =
    total === undefined
      ? squares - 2 * ratio * count + ratio ** 2 * sampled
      : squares - 2 * ratio * products + ratio ** 2 * tally.squares
  // At least the variance of independent events, because slices can be alike by chance.
  const variance = Math.max((residuals * sampled) / Math.max(1, sampled - 1), count)
  const unread = 1 - sampled / slices
  const error = Math.ceil(CONFIDENCE * factor * Math.sqrt(unread * variance))
  const estimate = Math.max(count, rounded(count * factor, error))
  // At most the number of all matching events, and at least the number of read events.
  return { count: total === undefined ? estimate : Math.min(total, estimate), error }
}

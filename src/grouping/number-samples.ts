import { sortInSteps } from '../filter/order.js'
import type { Steps } from '../filter/steps.js'
import type { NumberSummary, Percentile } from '../store/groups.js'

/** The numbers of one attribute in one group. */
export interface NumberSample {
  add(number: number): void
  /**
   * The percentiles of the added numbers; `undefined` without numbers. `slices` is the number of independent parts of
   * the log from which the numbers come; `undefined` if the sample has all numbers of the group.
   */
  summary(slices: number | undefined): Steps<NumberSummary | undefined>
}

/** Creates samples that share a limit of numbers. */
export interface NumberSamples {
  create(): NumberSample
}

interface Kept {
  values: number[]
  seen: number
}

const MAX_KEPT = 500_000
/** Standard errors on each side of a 95 % confidence interval. */
export const CONFIDENCE = 1.96

const compareNumbers = (left: number, right: number): number => left - right

/** The percentile of `sorted`, with the interval for numbers from `independent` parts. */
function percentileOf(
  sorted: readonly number[],
  share: number,
  independent: number | undefined,
): Percentile {
  const last = sorted.length
  const atRank = (rank: number): number => sorted[Math.max(1, Math.ceil(rank)) - 1]!
  const value = atRank(share * last)
  if (independent === undefined) return { value, low: value, high: value }
  const spread = CONFIDENCE * Math.sqrt((share * (1 - share)) / independent)
  return {
    value,
    low: share - spread > 0 ? atRank((share - spread) * last) : null,
    high: share + spread < 1 ? atRank((share + spread) * last) : null,
  }
}

/**
 * Keeps all numbers up to `maxKept` in all samples together. Beyond this, keeps every second number, then every
 * fourth number, and so on.
 */
export function createNumberSamples(maxKept: number = MAX_KEPT): NumberSamples {
  const all: Kept[] = []
  let stride = 1
  let total = 0

  const thin = (): void => {
    stride *= 2
    total = 0
    for (const kept of all) {
      kept.values = kept.values.filter((_, i) => i % 2 === 0)
      total += kept.values.length
    }
  }

  return {
    create() {
      const kept: Kept = { values: [], seen: 0 }
      all.push(kept)
      return {
        add(number) {
          if (kept.seen++ % stride > 0) return
          kept.values.push(number)
          if (++total > maxKept) thin()
        },
        *summary(slices) {
          const read = kept.values.length
          if (read === 0) return undefined
          const sorted = yield* sortInSteps(kept.values, compareNumbers)
          const isWhole = slices === undefined && stride === 1
          const independent = isWhole ? undefined : Math.min(read, slices ?? read)
          return {
            exact: isWhole,
            read,
            p50: percentileOf(sorted, 0.5, independent),
            p95: percentileOf(sorted, 0.95, independent),
            p99: percentileOf(sorted, 0.99, independent),
          }
        },
      }
    },
  }
}

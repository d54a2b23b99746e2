import type { Bucket, LevelCounts } from '../../../src/store/counts.js'
import { type Level, LEVELS } from '../../../src/event/level.js'

/** The least height of what is not nothing, and what parts the levels of a bar, in pixels. */
const LEAST = 2.4
const GAP = 0.8

export interface Segment {
  readonly level: Level
  readonly y: number
  readonly height: number
}

/**
 * Heights in proportion, none below the least: what small ones take too much the others give, so
 * that the whole stays true as long as there is room.
 */
function heightsOf(numbers: readonly number[], room: number): readonly number[] {
  const least = numbers.map(() => false)
  for (;;) {
    const rest = numbers.reduce((sum, number, i) => (least[i] ? sum : sum + number), 0)
    const scale = (room - LEAST * least.filter(Boolean).length) / rest
    const small = numbers.map((number, i) => !least[i] && number * scale < LEAST)
    if (!small.includes(true))
      return numbers.map((number, i) => (least[i] ? LEAST : number * scale))
    for (const [i, isSmall] of small.entries()) if (isSmall) least[i] = true
  }
}

/** A bar's levels from the baseline up, errors first; `unit` is the height of one event. */
export function segmentsOf(levels: LevelCounts, unit: number, baseline: number): Segment[] {
  const present = LEVELS.filter((level) => (levels[level] ?? 0) > 0)
  const numbers = present.map((level) => levels[level]!)
  const total = numbers.reduce((sum, number) => sum + number, 0)
  const heights = heightsOf(numbers, total * unit - GAP * (present.length - 1))
  let y = baseline
  return present.map((level, i) => {
    const height = heights[i]!
    y -= height
    const segment = { level, y, height }
    y -= GAP
    return segment
  })
}

const ROUND = [8, 6, 5, 4, 3, 2.5, 2, 1.5, 1]

/** The number to draw the upper grid line at: the greatest round one that is not above. */
export function roundBelow(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  const round = ROUND.map((step) => step * power)
  return round.find((number) => number <= most && Number.isInteger(number)) ?? 1
}

/** The greatest bar, or the first of several; `undefined` where there is no event. */
export function highestOf(buckets: readonly Bucket[]): Bucket | undefined {
  const most = Math.max(0, ...buckets.map(({ total }) => total))
  return most === 0 ? undefined : buckets.find(({ total }) => total === most)
}

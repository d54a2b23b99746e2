import type { Bucket, LevelCounts } from '../../../src/store/counts.js'
import { type Level, LEVELS } from '../../../src/event/level.js'

/** The minimum heights of a bar with events and of a segment, and the gap between segments, in pixels. */
const MIN_BAR = 1.5
const MIN_HEIGHT = 1
const GAP = 0.8

export interface Segment {
  readonly level: Level
  readonly y: number
  readonly height: number
}

/** Proportional heights of at least `min`. Large segments lose the height that small segments need. */
function heightsOf(numbers: readonly number[], room: number, min: number): readonly number[] {
  const least = numbers.map(() => false)
  for (;;) {
    const rest = numbers.reduce((sum, number, i) => (least[i] ? sum : sum + number), 0)
    const scale = (room - min * least.filter(Boolean).length) / rest
    const small = numbers.map((number, i) => !least[i] && number * scale < min)
    if (!small.includes(true)) return numbers.map((number, i) => (least[i] ? min : number * scale))
    for (const [i, isSmall] of small.entries()) if (isSmall) least[i] = true
  }
}

/**
 * The segments of a bar from the baseline up, errors first. `unit` is the height of one event. The minimum and the gaps
 * take at most half of a bar, so that a small number is never drawn as high as a large one.
 */
export function segmentsOf(levels: LevelCounts, unit: number, baseline: number): Segment[] {
  const present = LEVELS.filter((level) => (levels[level] ?? 0) > 0)
  const numbers = present.map((level) => levels[level]!)
  const total = numbers.reduce((sum, number) => sum + number, 0)
  const bar = Math.max(MIN_BAR, total * unit)
  const part = bar / (4 * present.length)
  const gap = Math.min(GAP, part)
  const room = bar - gap * (present.length - 1)
  const heights = heightsOf(numbers, room, Math.min(MIN_HEIGHT, part))
  let y = baseline
  return present.map((level, i) => {
    const height = heights[i]!
    y -= height
    const segment = { level, y, height }
    y -= gap
    return segment
  })
}

const ROUND = [8, 6, 5, 4, 3, 2.5, 2, 1.5, 1]

/** The largest round number up to `max`, for the upper grid line. */
export function roundBelow(max: number): number {
  const power = 10 ** Math.floor(Math.log10(max))
  const round = ROUND.map((step) => step * power)
  return round.find((number) => number <= max && Number.isInteger(number)) ?? 1
}

/** The first of the highest bars; `undefined` without events. */
export function highestOf(buckets: readonly Bucket[]): Bucket | undefined {
  const max = Math.max(0, ...buckets.map(({ total }) => total))
  return max === 0 ? undefined : buckets.find(({ total }) => total === max)
}

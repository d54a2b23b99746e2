import { type Level, levelOf, LEVELS } from '../../event/level.js'
import type { LevelCounts } from '../../store/counts.js'

const RANKS: ReadonlyMap<Level, number> = new Map(LEVELS.map((level, rank) => [level, rank]))

/** Numbers of events by group and level. Groups are cells or buckets. */
export interface Strata {
  add(group: number, type: string, count: number): void
  /** The total number. */
  total(): number
  levels(): LevelCounts
  /** The levels of one group. */
  levelsOf(group: number): LevelCounts
  /**
   * Regroups the numbers, multiplied by each cell's factor and rounded, so that all sums agree.
   */
  scaled(groups: number, groupOf: (cell: number) => number, factors: readonly number[]): Strata
}

export function createStrata(groups: number): Strata {
  return strataOf(new Float64Array(groups * LEVELS.length))
}

function strataOf(numbers: Float64Array): Strata {
  const groups = numbers.length / LEVELS.length

  const levelsFrom = (first: number, end: number): LevelCounts => {
    const found: Partial<Record<Level, number>> = {}
    for (const [rank, level] of LEVELS.entries()) {
      let count = 0
      for (let group = first; group < end; group++) count += numbers[group * LEVELS.length + rank]!
      if (count > 0) found[level] = count
    }
    return found
  }

  return {
    add(group, type, count) {
      numbers[group * LEVELS.length + RANKS.get(levelOf(type))!]! += count
    },
    total: () => numbers.reduce((sum, count) => sum + count, 0),
    levels: () => levelsFrom(0, groups),
    levelsOf: (group) => levelsFrom(group, group + 1),
    scaled(newGroups, groupOf, factors) {
      const scaled = new Float64Array(newGroups * LEVELS.length)
      for (const [i, count] of numbers.entries()) {
        const cell = Math.floor(i / LEVELS.length)
        const rank = i % LEVELS.length
        scaled[groupOf(cell) * LEVELS.length + rank]! += Math.round(count * factors[cell]!)
      }
      return strataOf(scaled)
    },
  }
}

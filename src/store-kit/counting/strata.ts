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
  /** The same numbers in other groups. */
  regrouped(groups: number, groupOf: (group: number) => number): Strata
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
    regrouped(newGroups, groupOf) {
      const regrouped = new Float64Array(newGroups * LEVELS.length)
      for (const [i, count] of numbers.entries()) {
        const group = groupOf(Math.floor(i / LEVELS.length))
        regrouped[group * LEVELS.length + (i % LEVELS.length)]! += count
      }
      return strataOf(regrouped)
    },
  }
}

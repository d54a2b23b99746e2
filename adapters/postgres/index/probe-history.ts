import { LRUCache } from 'lru-cache'
import { type IndexFilter, isLookup } from '../../../src/store-kit/index/index-filter.js'

/**
 * What the last question of a kind was answered by: the rows at the end where it begins, the index after some
 * of these, or the index alone, as none of these had what was asked for.
 */
export type Habit = 'rows' | 'both' | 'index'

/** What to try first with a filter, as it went the last time, whatever the values were. */
export interface Habits {
  of(filter: IndexFilter): Habit
  note(filter: IndexFilter, habit: Habit): void
}

const MOST_SHAPES = 1000
const MOST_LENGTH = 500

function shapeOf(filter: IndexFilter): string {
  if ('parts' in filter) return `${filter.combinator}(${filter.parts.map(shapeOf).join()})`
  return 'find' in filter ? `${filter.find.by} ${filter.name}` : Object.keys(filter).join()
}

const keyOf = (filter: IndexFilter): string => shapeOf(filter).slice(0, MOST_LENGTH)

export function createHabits(): Habits {
  const habits = new LRUCache<string, Habit>({ max: MOST_SHAPES })
  return {
    of: (filter) => habits.get(keyOf(filter)) ?? 'both',
    note(filter, habit) {
      // What takes more than a few reads is not begun where a few rows may do.
      habits.set(keyOf(filter), habit === 'index' && !isLookup(filter) ? 'both' : habit)
    },
  }
}

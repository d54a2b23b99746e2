import type { Scalar } from '../../filter/attributes.js'
import { compareScalars } from '../../filter/order.js'
import type { ValueCount } from '../../store/counts.js'

/** What different values may be kept, in all places that share it. */
export interface Capacity {
  values: number
  characters: number
}

interface Seen {
  count: number
  /** The event that was counted last: a value counts once for each. */
  event: number
}

/** Values with the number of events that have them. */
export interface SeenValues {
  /** How many different ones are kept: those that came first, where there was no room for all. */
  readonly size: number
  /** Counts the value for an event, of which there are `count` alike. */
  add(value: Scalar, event: number, count: number): void
  /** The most frequent; of equally frequent ones the lower first. */
  top(most: number, scale: (count: number) => number): ValueCount[]
}

export function createSeenValues(room: Capacity): SeenValues {
  const values = new Map<Scalar, Seen>()

  const hasRoom = (value: Scalar): boolean => {
    const length = typeof value === 'string' ? value.length : 0
    if (room.values < 1 || room.characters < length) return false
    room.values -= 1
    room.characters -= length
    return true
  }

  return {
    get size() {
      return values.size
    },
    add(value, event, count) {
      const seen = values.get(value)
      if (!seen) {
        if (hasRoom(value)) values.set(value, { count, event })
      } else if (seen.event !== event) {
        seen.count += count
        seen.event = event
      }
    },
    top(most, scale) {
      const order = Array.from(values, ([value, { count }]) => ({ value, count })).toSorted(
        (a, b) => b.count - a.count || compareScalars(a.value, b.value),
      )
      return order.slice(0, most).map(({ value, count }) => ({ value, count: scale(count) }))
    },
  }
}

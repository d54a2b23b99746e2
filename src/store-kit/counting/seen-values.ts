import type { Scalar } from '../../filter/attributes.js'
import { compareScalars, firstInOrderOf } from '../../filter/order.js'
import type { ValueCount } from '../../store/counts.js'

/** How many more distinct values may be kept. Several collections can share one capacity. */
export interface Capacity {
  values: number
  characters: number
}

interface Seen {
  count: number
  /** The number of the event that was counted last. A value counts once per event. */
  event: number
}

/** Counts the events of each value. */
export interface SeenValues {
  /** The number of distinct values kept: the first ones, up to the capacity. */
  readonly size: number
  /** True if the capacity sufficed for all values. */
  readonly isComplete: boolean
  /** Counts the value for an event that stands for `count` equal ones. */
  add(value: Scalar, event: number, count: number): void
  /** The most frequent values; ties in sort order. */
  top(max: number): ValueCount[]
}

export function createSeenValues(capacity: Capacity): SeenValues {
  const values = new Map<Scalar, Seen>()
  let isComplete = true

  const hasRoom = (value: Scalar): boolean => {
    const length = typeof value === 'string' ? value.length : 0
    if (capacity.values < 1 || capacity.characters < length) return false
    capacity.values -= 1
    capacity.characters -= length
    return true
  }

  return {
    get size() {
      return values.size
    },
    get isComplete() {
      return isComplete
    },
    add(value, event, count) {
      const seen = values.get(value)
      if (!seen) {
        if (hasRoom(value)) values.set(value, { count, event })
        else isComplete = false
      } else if (seen.event !== event) {
        seen.count += count
        seen.event = event
      }
    },
    top(max) {
      const order = firstInOrderOf(
        values,
        max,
        ([a, { count: m }], [b, { count: n }]) => n - m || compareScalars(a, b),
      )
      return order.map(([value, { count }]) => ({ value, count }))
    },
  }
}

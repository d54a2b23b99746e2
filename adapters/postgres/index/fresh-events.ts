import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import { rowToIndexed } from '../schema/rows.js'
import type { Moment, RecentEvents, RecentLimits } from './recent-events.js'
import { countFresh, moreFresh, type Refreshed } from './refresh-statements.js'

/** Adds unsealed events in the order of their times. */
export interface FreshEvents {
  /** `first` is the first slice after the events in memory. False if there are too many events; no more are added then. */
  add(first: Refreshed['fresh'], moment: Moment): Promise<boolean>
  /** Drops blocks without events later than the time. */
  dropUntil(time: Microseconds): void
}

export function createFreshEvents(
  names: Names,
  recent: RecentEvents,
  { slice, max }: RecentLimits,
): FreshEvents {
  const { index } = recent
  let count = 0

  return {
    async add(first, moment) {
      if (recent.isFull()) return first.length === 0
      for (let rows = first; ;) {
        const last = Number(rows.at(-1)?.[0])
        if (rows.length === slice) {
          const [row] = await moment.ask(countFresh(names), last, max)
          if (count + slice + Number(row![0]) > max) return false
        }
        if (rows.length > 0)
          await recent.addRows(
            rows,
            (row) => {
              index.add(Number(row[0]), rowToIndexed(row))
              count += 1
            },
            moment.checkTime,
          )
        if (rows.length < slice) return true
        if (recent.isFull()) return false
        rows = await moment.ask(moreFresh(names, slice), last)
      }
    },
    dropUntil(time) {
      const size = index.size
      index.dropUntil(time)
      count = Math.max(0, count - (size - index.size))
    },
  }
}

import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import { rowToIndexed } from '../schema/rows.js'
import type { Moment, RecentEvents, RecentLimits } from './recent-events.js'
import { countFresh, moreFresh, type Refreshed } from './refresh-statements.js'

/** Adds unsealed events in the order of their times. */
export interface FreshEvents {
  /** `fresh` is the first slice after the events in memory. False if there are too many events; no more are added then. */
  add(first: Pick<Refreshed, 'fresh' | 'maxFresh'>, moment: Moment): Promise<boolean>
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
    async add({ fresh, maxFresh }, moment) {
      if (recent.isFull()) return fresh.length === 0
      let [rows, wanted] = [fresh, maxFresh]
      for (;;) {
        const last = Number(rows.at(-1)?.[0])
        if (rows.length === wanted) {
          const [row] = await moment.ask(countFresh(names), last, max)
          if (count + rows.length + Number(row![0]) > max) return false
        }
        if (rows.length > 0)
          await recent.addRows(
            rows,
            (row) => {
              index.add(Number(row[0]), rowToIndexed(row, recent.listing.lists))
              count += 1
            },
            moment.checkTime,
          )
        if (rows.length < wanted) return true
        if (recent.isFull()) return false
        rows = await moment.ask(moreFresh(names, slice), last)
        wanted = slice
      }
    },
    dropUntil(time) {
      const size = index.size
      index.dropUntil(time)
      count = Math.max(0, count - (size - index.size))
    },
  }
}

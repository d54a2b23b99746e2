import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { unindexedPart } from '../../../src/store-kit/index/unindexed-part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Names } from '../schema/names.js'
import type { PostgresSegmentRow } from './index-state.js'
import type { Moment } from './recent-events.js'

/** Stands for a damaged segment: the times of all events in its range. Any of them may match a filter. */
export interface RangePart {
  /** Reads the times. Continues where an earlier call ran out of time. */
  read(moment: Moment): Promise<IndexPart>
}

/** Rows that are read at once. */
const STEP = 2048

/** An event that is added to the range later is listed as late. */
export function createRangePart(
  { events }: Names,
  { id, first, last }: PostgresSegmentRow,
): RangePart {
  const times: Microseconds[] = []
  let part: IndexPart | undefined
  return {
    async read({ ask, checkTime }) {
      while (!part) {
        checkTime()
        const rows = await ask(
          `SELECT created_at FROM ${events} WHERE created_at > $1 AND created_at <= $2
           ORDER BY created_at LIMIT ${STEP}`,
          times.at(-1) ?? first - 1,
          last,
        )
        for (const [time] of rows) times.push(Number(time))
        if (rows.length < STEP) part = unindexedPart(`damaged-${id}`, times)
      }
      return part
    },
  }
}

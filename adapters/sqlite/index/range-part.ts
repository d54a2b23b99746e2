import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { unindexedPart } from '../../../src/store-kit/index/unindexed-part.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import type { SqliteSegmentRow } from './index-state.js'

/** Stands for a damaged segment: the times of all events in its range. Any of them may match a filter. */
export interface RangePart {
  /** Reads times until `isOver`; false if there are more. */
  read(isOver: () => boolean): boolean
  /** Call it once all times were read. */
  part(): IndexPart
}

/** Rows that are read at once. */
const STEP = 2048

const TIMES = `SELECT created_at FROM daybook_events WHERE created_at > ? AND created_at <= ?
  ORDER BY created_at LIMIT ${STEP}`

/** An event that is added to the range later is listed as late. */
export function createRangePart(
  { statement }: Connection,
  { id, first, last }: SqliteSegmentRow,
): RangePart {
  const times: Microseconds[] = []
  let part: IndexPart | undefined
  return {
    read(isOver) {
      while (!part) {
        const rows = statement(TIMES)
          .raw(true)
          .all(times.at(-1) ?? first - 1, last) as [Microseconds][]
        for (const [time] of rows) times.push(time)
        if (rows.length < STEP) part = unindexedPart(`damaged-${id}`, times)
        else if (isOver()) return false
      }
      return true
    },
    part: () => part!,
  }
}

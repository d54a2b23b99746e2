import type { AuditEvent } from '../../../src/event/event.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { extractedSource } from '../../../src/store-kit/index/block-source.js'
import { createGrowingIndex } from '../../../src/store-kit/index/growing-index.js'
import { createListing } from '../../../src/store-kit/index/listing.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { DAMAGED_EVENT } from '../../../src/store-kit/damages.js'
import { type EventRow, rowToEvent, rowToLazyEvent } from '../schema/rows.js'
import { rowsAfter } from '../schema/read-after.js'
import type { Tables } from '../schema/log-tables.js'
import { INDEX_BOUNDS } from '../../../src/store-kit/index/index-bounds.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { SealedState } from './index-state.js'
import { LIMIT } from '../connection/limit.js'

/** An index in memory of the events that are in no segment yet. Call the methods within one snapshot. */
export interface RecentEvents {
  /** Time of the newest event that was added in order, or up to which events are in segments. */
  readonly last: Microseconds
  /** Drops the events that are now in segments. */
  dropSealed(state: SealedState): void
  /** Says if there are too many new events, and too many late events, to keep them in memory. */
  tooMany(unsealed: number): { readonly isNew: boolean; readonly isLate: boolean }
  /** Adds the events after `last` until `isOver`, or until there are too many; false if there are more. */
  addNew(isOver: () => boolean): boolean
  /** Adds the late events until `isOver`, or until there are too many; false if there are more. */
  addLate(isOver: () => boolean): boolean
  /** The events so far; events that are added later are not in these parts. `undefined` if there is more to do. */
  parts(isOver: () => boolean): readonly IndexPart[] | undefined
}

const BLOCK = 2048
/** Maximum number of rows of one statement. */
const STEP = 64
/**
 * At most this many segments' worth of unsealed events is kept in memory, and no more than
 * `IndexBounds.unsealedBytes`. Queries check more one by one.
 */
const MAX_UNSEALED = 4

const LATE = `SELECT id, created_at AS time FROM daybook_late WHERE id > ? ORDER BY id LIMIT ${STEP}`

const COUNT_LATE = `SELECT count(*) AS late FROM (SELECT 1 FROM daybook_late WHERE id > ? ${LIMIT})`

export function createRecentEvents(
  tables: Tables,
  { segmentSize, bounds = INDEX_BOUNDS }: SealingTuning,
): RecentEvents {
  const { statement } = tables.connection
  const max = MAX_UNSEALED * segmentSize
  const index = createGrowingIndex(BLOCK, () => extractedSource(bounds), bounds.bytes)
  let sealedLate: number | undefined
  /** Id of the last row of `daybook_late` that was added. */
  let lastLate = 0
  const isFull = (): boolean => index.bytes >= bounds.unsealedBytes
  // Without the late events, all events have to be read one by one, so they have room of their own.
  const isFullOfLate = (): boolean => index.bytes >= 2 * bounds.unsealedBytes

  const listing = createListing(bounds)
  const toEvent = (row: EventRow): AuditEvent =>
    listing.lists(row.attributes) ? rowToEvent(row) : rowToLazyEvent(row)

  return {
    get last() {
      return index.last
    },
    dropSealed(state) {
      index.dropUntil(state.sealedTo)
      listing.reset()
      if (state.sealedLate === sealedLate) return
      index.dropLate()
      sealedLate = state.sealedLate
      lastLate = sealedLate
    },
    tooMany(unsealed) {
      if (unsealed <= max && !isFull()) return { isNew: false, isLate: false }
      const most = isFullOfLate() ? 1 : max
      const { late } = statement(COUNT_LATE).get(lastLate, most) as { readonly late: number }
      return { isNew: true, isLate: late >= most }
    },
    addNew(isOver) {
      if (!index.finish(isOver)) return false
      for (;;) {
        let count = 0
        for (const { time, row } of rowsAfter(tables, index.last, STEP)) {
          index.add(time, row ? toEvent(row) : DAMAGED_EVENT)
          if (!index.finish(isOver) || isOver()) return false
          count += 1
        }
        if (count < STEP) return true
        if (isFull()) return false
      }
    },
    addLate(isOver) {
      if (!index.finish(isOver)) return false
      for (;;) {
        const late = statement(LATE).all(lastLate) as { id: number; time: Microseconds }[]
        for (const { id, time } of late) {
          const row = tables.events.at(time)
          if (row) index.addLate(time, toEvent(row))
          lastLate = id
          if (!index.finish(isOver) || isOver()) return false
        }
        if (late.length < STEP) return true
        if (isFullOfLate()) return false
      }
    },
    parts: (isOver) => index.parts(isOver),
  }
}

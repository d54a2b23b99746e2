import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { SegmentInfo } from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'

/*
 * The index of the attributes on disk. A segment indexes some events, numbered in the order of their
 * times, and never changes once it is visible: events that are in no segment yet are "sealed" into
 * one, and several of one level are merged into one of the next. All that is in any visible segment,
 * has a time later than `sealed_to`, or stands in `daybook_late`: these are all of the events at any
 * moment.
 *
 * The chunks of a segment are numbered from 0 in the order of their keys, and so are the blocks of its
 * times; both are found by ids made of the segment's and the number.
 */
export const State = {
  /** Being written, or left so by a process that was killed. */
  building: 0,
  visible: 1,
  /** Nobody reads it any more, and its rows are being removed. */
  gone: 2,
} as const

export interface SegmentRow extends SegmentInfo {
  /** How often its events were merged. */
  readonly level: number
  /** The count of removed events up to which none of them is there any more. */
  readonly removed: number
}

export const SEGMENT_COLUMNS = 'id, level, size, first, last, removed'

export const DEFAULT_TUNING: SealingTuning = { segmentSize: 16_384, fanOut: 16 }

/** In place of the name where there is none. */
export const NO_NAME = 0

// More chunks, or blocks of times, than any segment has.
const MOST = 2 ** 24

/** The id of a segment's chunk, or block of times. */
export const rowId = (segment: number, number: number): number => segment * MOST + number

/** The id of a chunk in SQL. */
export const CHUNK_ID = `k.segment * ${MOST} + k.chunk`

/** The rows of a segment, in order: those whose ids are from the first on and below the second. */
export const rowIds = (segment: number): readonly [number, number] => [
  rowId(segment, 0),
  rowId(segment + 1, 0),
]

export function visibleSegments({ statement }: Connection): readonly SegmentRow[] {
  const text = `SELECT ${SEGMENT_COLUMNS} FROM daybook_segments WHERE state = ? ORDER BY first, id`
  return statement(text).all(State.visible) as SegmentRow[]
}

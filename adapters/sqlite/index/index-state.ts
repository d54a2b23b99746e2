import type { Microseconds } from '../../../src/event/timestamp.js'
import type { SegmentRow } from '../../../src/store-kit/index-builder/index-driver.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { keyChecksum } from '../../../src/store-kit/index/checksums.js'
import type { Connection } from '../connection/connection.js'
import { checkRow } from '../schema/only-row.js'

/*
 * The index of the attributes on disk. A segment indexes some events, numbered in the order of their times,
 * and never changes once it is visible. Events that are in no segment yet are sealed into one, and several
 * segments of one level are merged into one of the next. At any moment, each event is in a visible segment,
 * has a time after `sealed_to`, or is listed in `daybook_late`.
 */

export const DEFAULT_TUNING: SealingTuning = {
  segmentSize: 16_384,
  fanOut: 16,
  early: { minEvents: 64, afterMs: 30_000 },
}

export interface SqliteSegmentRow extends SegmentRow {
  /** The count of removed events when the segment was built. The segment has none of the events removed by then. */
  readonly removed: number
  /** See `eventsDigest`. */
  readonly digest: number
  /** The number of its last name. */
  readonly names: number
  /** Number of its chunks, without the blocks of times. */
  readonly chunks: number
  readonly isDamaged: boolean
  /** False if the row itself is damaged; then its range is that of all events. */
  readonly isTrusted: boolean
}

/** The index at one moment. */
export interface IndexState {
  /** Changes whenever the other fields change. */
  readonly version: number
  /** Events with a later time are in no segment, unless they were late. */
  readonly sealedTo: Microseconds
  /** Events in `daybook_late` with a higher id are in no segment. */
  readonly sealedLate: number
  /** The visible segments, by the times of their first events. */
  readonly segments: readonly SqliteSegmentRow[]
  /** The segments that are to be built anew. */
  readonly damaged: readonly SqliteSegmentRow[]
}

const COLUMNS =
  'id, level, size, first, last, s.removed, partial, digest, names, chunks, state, checksum'

const SEGMENTS = `SELECT ${COLUMNS} FROM daybook_segments AS s WHERE state = ${SegmentState.visible} ORDER BY first, id`

// One statement, so that the result is consistent.
const STATE = `SELECT version, sealed_to, sealed_late, ${COLUMNS}
  FROM daybook_index LEFT JOIN daybook_segments AS s
    ON state IN (${SegmentState.visible}, ${SegmentState.damaged}) ORDER BY first, id`

interface SegmentValues extends Omit<SqliteSegmentRow, 'isPartial' | 'isDamaged' | 'isTrusted'> {
  readonly partial: 0 | 1
  readonly state: number
  readonly checksum: number
}

interface StateRow extends Omit<SegmentValues, 'id'> {
  readonly version: number
  readonly sealed_to: Microseconds
  readonly sealed_late: number
  readonly id: number | null
}

/** By the times of their first events. */
export const visibleSegments = ({ statement }: Connection): readonly SqliteSegmentRow[] =>
  (statement(SEGMENTS).all() as SegmentValues[])
    .map(toSegmentRow)
    .filter(({ isTrusted }) => isTrusted)

function toSegmentRow({ partial, state, checksum, ...row }: SegmentValues): SqliteSegmentRow {
  const { id, level, size, first, last, removed, digest, names, chunks } = row
  const summed = [id, level, size, first, last, removed, partial, digest, names, chunks]
  const isTrusted = keyChecksum(summed) === checksum
  return {
    ...row,
    ...(!isTrusted && { first: 0, last: Number.MAX_SAFE_INTEGER }),
    isPartial: partial === 1,
    isDamaged: state === SegmentState.damaged || !isTrusted,
    isTrusted,
  }
}

/**
 * The state of the index. Its segments can be read while the version stays the same, so a caller that reads
 * more than once does so in one transaction, or checks the version again.
 */
export function loadIndexState({ statement }: Connection): IndexState {
  const rows = statement(STATE).all() as StateRow[]
  const [first] = rows
  const { version, sealed_to, sealed_late } = checkRow(
    first && { version: first.version, sealed_to: first.sealed_to, sealed_late: first.sealed_late },
    STATE,
  )
  const segments = rows.flatMap(({ version: _v, sealed_to: _t, sealed_late: _l, id, ...row }) =>
    id === null ? [] : [toSegmentRow({ id, ...row })],
  )
  return {
    version,
    sealedTo: sealed_to,
    sealedLate: sealed_late,
    segments: segments.filter(({ isDamaged }) => !isDamaged),
    damaged: segments.filter(({ isDamaged }) => isDamaged),
  }
}

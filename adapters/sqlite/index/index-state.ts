import type { Microseconds } from '../../../src/event/timestamp.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { SUMMED_COLUMNS } from '../../../src/store-kit/index/checksums.js'
import {
  IS_SHOWN,
  readSegmentRow,
  type StoredSegment,
} from '../../../src/store-kit/maintenance/index-rows.js'
import type { Row } from '../../../src/store-kit/maintenance/program.js'
import type { Connection } from '../connection/connection.js'
import { checkRow } from '../schema/events.js'

export const DEFAULT_TUNING: SealingTuning = {
  segmentSize: 16_384,
  fanOut: 16,
  early: { minEvents: 64, afterMs: 30_000 },
}

export type SqliteSegmentRow = StoredSegment

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

// One statement, so that the result is consistent. Without any segment, its values are NULL.
const STATE = `SELECT version, sealed_to, sealed_late, ${SUMMED_COLUMNS.replace('removed', 's.removed')}, state, checksum
  FROM daybook_index LEFT JOIN daybook_segments AS s ON ${IS_SHOWN} ORDER BY first, id`

/**
 * The state of the index. Its segments can be read while the version stays the same, so a caller that reads
 * more than once does so in one transaction, or checks the version again.
 */
export function loadIndexState({ statement }: Connection): IndexState {
  const rows = statement(STATE).raw(true).all() as Row[]
  const [version, sealedTo, sealedLate] = rows[0] ?? []
  const state = checkRow(rows[0] && { version, sealedTo, sealedLate }, STATE)
  const segments = rows.filter((row) => row[3] !== null).map((row) => readSegmentRow(row.slice(3)))
  return {
    ...(state as Pick<IndexState, 'version' | 'sealedTo' | 'sealedLate'>),
    segments: segments.filter(({ isDamaged }) => !isDamaged),
    damaged: segments.filter(({ isDamaged }) => isDamaged),
  }
}

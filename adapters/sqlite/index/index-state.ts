import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { type SegmentRow, State } from './index-tables.js'

/** What is in the index at one moment. */
export interface IndexState {
  /** Changes whenever any of the rest does. */
  readonly version: number
  /** What has a later time is in no segment, unless it was late. */
  readonly sealedTo: Microseconds
  /** Nor are those in `daybook_late`, whose ids are all behind this one. */
  readonly sealedLate: number
  /** Those to be read, by the times of their first events. */
  readonly segments: readonly SegmentRow[]
}

// One statement, so that all of it is of one moment.
const STATE = `SELECT version, sealed_to, sealed_late, id, level, size, first, last, s.removed
  FROM daybook_index LEFT JOIN daybook_segments AS s ON state = ${State.visible} ORDER BY first, id`

interface StateRow extends Omit<SegmentRow, 'id'> {
  readonly version: number
  readonly sealed_to: Microseconds
  readonly sealed_late: number
  readonly id: number | null
}

/**
 * The state of the index. What it tells of, and the chunks of its segments, are there only as long as the
 * version stays: who reads more than once reads all of it in one transaction, or looks at the version again.
 */
export function loadIndexState({ statement }: Connection): IndexState {
  const rows = statement(STATE).all() as StateRow[]
  const { version, sealed_to, sealed_late } = rows[0]!
  return {
    version,
    sealedTo: sealed_to,
    sealedLate: sealed_late,
    segments: rows.flatMap(({ id, level, size, first, last, removed }) =>
      id === null ? [] : [{ id, level, size, first, last, removed }],
    ),
  }
}

import type { AuditLogError } from '../../../src/errors.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import {
  type IndexState,
  readSegmentRow,
  readStateRow,
  segmentsSql,
  stateSql,
  type StoredSegment,
} from '../../../src/store-kit/maintenance/index-rows.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import { asAuditLogError, damagedData } from '../connection/failures.js'
import type { Names } from '../schema/names.js'

export const DEFAULT_TUNING: SealingTuning = { segmentSize: 8192, fanOut: 16 }

export type PostgresSegmentRow = StoredSegment

/** SQL that reads the segments that are visible or damaged, by the times of their first events. */
export const selectSegments = ({ segments }: Names): string => segmentsSql(segments, true)

/** The segments that are visible or damaged, by the times of their first events. */
export const loadSegments = async (
  client: PostgresPoolClient,
  names: Names,
): Promise<readonly PostgresSegmentRow[]> =>
  (await ask(client, selectSegments(names))).map(readSegmentRow)

/** The error of a log whose row of the index's state is not as it was written. */
export const damagedIndexState = (): AuditLogError =>
  asAuditLogError(damagedData('the row of index_state is missing or lacks a value'))

export async function loadIndexState(
  client: PostgresPoolClient,
  { indexState }: Names,
): Promise<IndexState> {
  const [row] = await ask(client, stateSql(indexState))
  return readStateRow(row, damagedIndexState)
}

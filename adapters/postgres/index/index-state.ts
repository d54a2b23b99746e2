import type { AuditLogError } from '../../../src/errors.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { segmentsSql } from '../../../src/store-kit/maintenance/index-rows.js'
import { asAuditLogError, damagedData } from '../connection/failures.js'
import type { Names } from '../schema/names.js'

export const DEFAULT_TUNING: SealingTuning = { segmentSize: 8192, fanOut: 16 }

/** SQL that reads the segments that are visible or damaged, by the times of their first events. */
export const selectSegments = ({ segments }: Names): string => segmentsSql(segments, true)

/** The error of a log whose row of the index's state is not as it was written. */
export const damagedIndexState = (): AuditLogError =>
  asAuditLogError(damagedData('the row of index_state is missing or lacks a value'))

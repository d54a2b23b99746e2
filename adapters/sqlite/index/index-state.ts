import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { type LoadedIndex, loadIndex } from '../../../src/store-kit/maintenance/index-rows.js'
import type { Connection } from '../connection/connection.js'
import { onlyRow } from '../schema/events.js'
import { DIALECT, runProgram } from './dialect.js'

export const DEFAULT_TUNING: SealingTuning = {
  segmentSize: 16_384,
  fanOut: 16,
  early: { minEvents: 64, afterMs: 30_000 },
}

/** The index at one moment. */
export interface SealedState extends LoadedIndex {
  /** Events in `daybook_late` with a higher id are in no segment. */
  readonly sealedLate: number
}

const SEALED_LATE = 'SELECT sealed_late AS sealedLate FROM daybook_index'

/**
 * Reads the index, within a snapshot. Its segments can be read while the version stays the same, so a caller that reads
 * more than once does so in one transaction, or checks the version again.
 */
export const loadSealed = (connection: Connection): SealedState => ({
  ...runProgram(connection, loadIndex(DIALECT)),
  ...(onlyRow(connection, SEALED_LATE) as Pick<SealedState, 'sealedLate'>),
})

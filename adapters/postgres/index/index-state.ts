import type { SegmentRow } from '../../../src/store-kit/index-builder/index-driver.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { keyChecksum, SUMMED_COLUMNS } from '../../../src/store-kit/index/checksums.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import {
  ask,
  runInTransaction,
  type PostgresPoolClient,
  type TextRow,
} from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { asAuditLogError, damagedData } from '../connection/failures.js'
import type { AuditLogError } from '../../../src/errors.js'
import { IDLE_TIMEOUT } from './transaction-settings.js'

export const DEFAULT_TUNING: SealingTuning = { segmentSize: 8192, fanOut: 16 }

export interface PostgresSegmentRow extends SegmentRow {
  /** The count of removed events when the segment was built. The segment lacks the events removed before. */
  readonly removed: number
  /** See `eventsDigest`. */
  readonly digest: number
  /** The `eventsDigest` of the first times of its blocks of times. */
  readonly starts: number
  /** The number of its last name. */
  readonly names: number
  /** Number of its chunks. */
  readonly chunks: number
  readonly isDamaged: boolean
  /** False if the row itself is damaged; then its range is the range of all events. */
  readonly isTrusted: boolean
}

/** The columns that the checksum of a segment's own row covers. */
const SUMMED = `${SUMMED_COLUMNS}, starts`

/** SQL that reads the segments that are visible or damaged, by the times of their first events. */
export const selectSegments = ({ segments }: Names): string =>
  `SELECT ${SUMMED}, state, checksum FROM ${segments}
   WHERE state IN (${SegmentState.visible}, ${SegmentState.damaged}) ORDER BY first, id`

export function readSegmentRow(row: TextRow): PostgresSegmentRow {
  const values = row.map(Number)
  const [state, checksum] = values.slice(-2)
  const [id, level, size, first, last, removed, partial, digest, namesTo, chunks, starts] = values
  const isTrusted = keyChecksum(values.slice(0, -2)) === checksum
  return {
    id: id!,
    level: level!,
    size: size!,
    first: isTrusted ? first! : 0,
    last: isTrusted ? last! : Number.MAX_SAFE_INTEGER,
    isPartial: partial === 1,
    removed: removed!,
    digest: digest!,
    starts: starts!,
    names: namesTo!,
    chunks: chunks!,
    isDamaged: state === SegmentState.damaged || !isTrusted,
    isTrusted,
  }
}

/** Gives the segment's own row its checksum, within the transaction that completes it. */
export async function sumSegment(
  client: PostgresPoolClient,
  { segments }: Names,
  id: number,
): Promise<void> {
  const [row] = await ask(client, `SELECT ${SUMMED} FROM ${segments} WHERE id = $1`, id)
  const checksum = keyChecksum(row!.map(Number))
  await ask(client, `UPDATE ${segments} SET checksum = $2 WHERE id = $1`, id, checksum)
}

/** The segments that are visible or damaged, by the times of their first events. */
export const loadSegments = async (
  client: PostgresPoolClient,
  names: Names,
): Promise<readonly PostgresSegmentRow[]> =>
  (await ask(client, selectSegments(names))).map(readSegmentRow)

/** By the times of their first events. */
export const visibleSegments = async (
  client: PostgresPoolClient,
  names: Names,
): Promise<readonly PostgresSegmentRow[]> =>
  (await loadSegments(client, names)).filter(({ isDamaged }) => !isDamaged)

export interface IndexState {
  /** Changes whenever the visible segments or `sealedTo` change. */
  readonly version: number
  /** Events with a later time are in no segment, unless they were late. */
  readonly sealedTo: Microseconds
  /** How many events were removed by their ids. */
  readonly removed: number
  /** Events before this time may have been removed without being counted. */
  readonly removedBefore: Microseconds
  /** True until the index was built anew, after that was requested. */
  readonly isRebuildRequested: boolean
}

/** The error of a log whose row of the index's state is not as it was written. */
export const damagedIndexState = (): AuditLogError =>
  asAuditLogError(damagedData('the row of index_state is missing or lacks a value'))

/** SQL for the rows of {@link readIndexState}. */
export const selectIndexState = ({ indexState }: Names): string =>
  `SELECT version, sealed_to, removed, removed_before, rebuild FROM ${indexState}`

export function readIndexState(row: TextRow | undefined): IndexState {
  if (!row?.every((value) => value !== null)) throw damagedIndexState()
  const [version, sealedTo, removed, removedBefore, rebuild] = row
  return {
    version: Number(version),
    sealedTo: Number(sealedTo),
    removed: Number(removed),
    removedBefore: Number(removedBefore),
    isRebuildRequested: rebuild === 't',
  }
}

export async function loadIndexState(
  client: PostgresPoolClient,
  names: Names,
): Promise<IndexState> {
  const [row] = await ask(client, selectIndexState(names))
  return readIndexState(row)
}

/**
 * Runs `change` in a transaction that may change which segments are visible; only one such transaction runs at
 * a time. `change` returns the new state, or `undefined` if it has changed nothing.
 */
export const changeIndexState = (
  client: PostgresPoolClient,
  names: Names,
  change: (state: IndexState) => Promise<Pick<IndexState, 'sealedTo'> | undefined>,
): Promise<boolean> =>
  runInTransaction(client, async () => {
    await ask(client, IDLE_TIMEOUT)
    const [row] = await ask(client, `${selectIndexState(names)} FOR UPDATE`)
    const next = await change(readIndexState(row))
    if (!next) return false
    await ask(
      client,
      `UPDATE ${names.indexState} SET version = version + 1, sealed_to = $1`,
      next.sealedTo,
    )
    return true
  })

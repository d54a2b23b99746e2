import type { Microseconds } from '../../event/timestamp.js'
import { keyChecksum, SUMMED_COLUMNS } from '../index/checksums.js'
import { type SegmentInfo, SegmentState } from '../index/segment-source.js'
import { type Sql, sql } from '../sql.js'
import type { Dialect, SealedChange } from './dialect.js'
import type { Program, Row } from './program.js'

/*
 * The index of the attributes. A segment indexes some events, numbered in the order of their times, and never changes
 * once it is visible. Events that are in no segment yet are sealed into one, and several segments of one level are merged
 * into one of the next. At any moment, each event is in a visible segment, has a time after `sealed_to`, or is listed as
 * late.
 */

/** The row of a segment that is visible or damaged. */
export interface SegmentRow extends SegmentInfo {
  /** 0 for a sealed segment, or `EARLY_LEVEL`; a merged segment is one level above its highest part. */
  readonly level: number
  /** The count of removed events when the segment was built. The segment lacks the events removed before. */
  readonly removed: number
  /** See `eventsDigest`. */
  readonly digest: number
  /** The `eventsDigest` of the first times of its blocks of times; 0 in a store that has none. */
  readonly starts: number
  /** The number of its last name. */
  readonly names: number
  /** Number of its chunks; SQLite leaves out the blocks of times. */
  readonly chunks: number
  readonly isDamaged: boolean
  /** False if the row itself is damaged; then its range is the range of all events. */
  readonly isTrusted: boolean
}

/** The columns that the checksum of a segment's own row covers. */
export const summedColumns = (hasStarts: boolean): string =>
  hasStarts ? `${SUMMED_COLUMNS}, starts` : SUMMED_COLUMNS

/** The states of segments that queries read, or read the events of. */
const IS_SHOWN = `state IN (${SegmentState.visible}, ${SegmentState.damaged})`

/** SQL for the rows of {@link readSegmentRow}, by the times of their first events. */
export const segmentsSql = (segments: string, hasStarts: boolean): string =>
  `SELECT ${summedColumns(hasStarts)}, state, checksum FROM ${segments} WHERE ${IS_SHOWN} ORDER BY first, id`

export function readSegmentRow(row: Row): SegmentRow {
  const values = row.map(Number)
  const [checksum, state] = [values.pop(), values.pop()]
  const [id, level, size, first, last, removed, partial, digest, names, chunks, starts] = values
  const isTrusted = keyChecksum(values) === checksum
  return {
    id: id!,
    level: level!,
    size: size!,
    first: isTrusted ? first! : 0,
    last: isTrusted ? last! : Number.MAX_SAFE_INTEGER,
    isPartial: partial === 1,
    removed: removed!,
    digest: digest!,
    starts: starts ?? 0,
    names: names!,
    chunks: chunks!,
    isDamaged: state === SegmentState.damaged || !isTrusted,
    isTrusted,
  }
}

/** The segments that are visible or damaged, by the times of their first events. */
export function* loadSegments({ tables, hasStarts }: Dialect): Program<readonly SegmentRow[]> {
  return (yield sql(segmentsSql(tables.segments, hasStarts))).map(readSegmentRow)
}

const isVisible = ({ isDamaged }: SegmentRow): boolean => !isDamaged

/** The segments that queries read, by the times of their first events. */
export function* visibleSegments(dialect: Dialect): Program<readonly SegmentRow[]> {
  return (yield* loadSegments(dialect)).filter(isVisible)
}

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

/** SQL for the row of {@link readStateRow}, which may have more columns. */
export const stateSql = (indexState: string, more = ''): string =>
  `SELECT version, sealed_to, removed, removed_before, CASE WHEN rebuild THEN 1 ELSE 0 END${more} FROM ${indexState}`

export function readStateRow(row: Row | undefined, damaged: Dialect['damagedState']): IndexState {
  if (!row?.every((value) => value !== null && Number.isSafeInteger(Number(value)))) throw damaged()
  const [version, sealedTo, removed, removedBefore, rebuild] = row.map(Number)
  return {
    version: version!,
    sealedTo: sealedTo!,
    removed: removed!,
    removedBefore: removedBefore!,
    isRebuildRequested: rebuild === 1,
  }
}

function* askState({ tables, damagedState }: Dialect, suffix: string): Program<IndexState> {
  const [row] = yield sql(`${stateSql(tables.indexState)}${suffix}`)
  return readStateRow(row, damagedState)
}

export const loadState = (dialect: Dialect): Program<IndexState> => askState(dialect, '')

/** The state of the index, and its segments by the times of their first events. */
export interface LoadedIndex extends IndexState {
  /** The segments that queries read. */
  readonly segments: readonly SegmentRow[]
  /** The segments that are to be built anew. */
  readonly damaged: readonly SegmentRow[]
}

/** Reads the index at one moment, within a transaction. */
export function* loadIndex(dialect: Dialect): Program<LoadedIndex> {
  const state = yield* loadState(dialect)
  const rows = yield* loadSegments(dialect)
  const damaged = rows.filter((row) => row.isDamaged)
  return { ...state, segments: rows.filter(isVisible), damaged }
}

/** Begins a change of which segments are visible; only one such transaction runs at a time. */
export const lockState = (dialect: Dialect): Program<IndexState> =>
  askState(dialect, dialect.forUpdate)

/** Ends a change after {@link lockState}: readers load the segments again. */
export function* nextVersion(
  { tables, assignSealed }: Dialect,
  sealedTo: Microseconds,
  change?: SealedChange,
): Program<void> {
  const more: Sql | undefined = change && assignSealed?.(change)
  yield sql(
    `UPDATE ${tables.indexState} SET version = version + 1, sealed_to = ?${more ? `, ${more.text}` : ''}`,
    sealedTo,
    ...(more?.params ?? []),
  )
}

import type { Microseconds } from '../../../src/event/timestamp.js'
import type { SegmentRow } from '../../../src/store-kit/index-builder/index-driver.js'
import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import { keyChecksum } from '../../../src/store-kit/index/checksums.js'
import type { Connection } from '../connection/connection.js'
import { checkRow } from '../schema/events.js'

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
  /** The count of removed events when the segment was built. The segment lacks the events removed before. */
  readonly removed: number
  /** See `eventsDigest`. */
  readonly digest: number
  /** The number of its last name. */
  readonly names: number
  /** Number of its chunks, without the blocks of times. */
  readonly chunks: number
  readonly isDamaged: boolean
  /** False if the row itself is damaged; then its range is the range of all events. */
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
const STATE = `SELECT ${COLUMNS}, version, sealed_to, sealed_late
  FROM daybook_index LEFT JOIN daybook_segments AS s
    ON state IN (${SegmentState.visible}, ${SegmentState.damaged}) ORDER BY first, id`

/** The values of `COLUMNS`, read by index: a process reads the state before its first query, when other code is slow. */
type SegmentValues = readonly [
  id: number,
  level: number,
  size: number,
  first: Microseconds,
  last: Microseconds,
  removed: number,
  partial: 0 | 1,
  digest: number,
  names: number,
  chunks: number,
  state: number,
  checksum: number,
]

type OrNull<Values extends readonly unknown[]> = {
  readonly [at in keyof Values]: Values[at] | null
}

/** Without any segment, its values are `null`. */
type StateValues = readonly [
  ...segment: OrNull<SegmentValues>,
  version: number,
  sealedTo: Microseconds,
  sealedLate: number,
]

/** By the times of their first events. */
export const visibleSegments = ({ statement }: Connection): readonly SqliteSegmentRow[] =>
  (statement(SEGMENTS).raw(true).all() as unknown as SegmentValues[])
    .map(toSegmentRow)
    .filter(({ isTrusted }) => isTrusted)

/** The values that the checksum covers. */
const SUMMED = 10

function toSegmentRow(values: SegmentValues): SqliteSegmentRow {
  const isTrusted = keyChecksum(values.slice(0, SUMMED)) === values[11]
  return {
    id: values[0],
    level: values[1],
    size: values[2],
    first: isTrusted ? values[3] : 0,
    last: isTrusted ? values[4] : Number.MAX_SAFE_INTEGER,
    removed: values[5],
    isPartial: values[6] === 1,
    digest: values[7],
    names: values[8],
    chunks: values[9],
    isDamaged: values[10] === SegmentState.damaged || !isTrusted,
    isTrusted,
  }
}

/**
 * The state of the index. Its segments can be read while the version stays the same, so a caller that reads
 * more than once does so in one transaction, or checks the version again.
 */
export function loadIndexState({ statement }: Connection): IndexState {
  const rows = statement(STATE).raw(true).all() as unknown as StateValues[]
  const [first] = rows
  const { version, sealedTo, sealedLate } = checkRow(
    first && { version: first[12], sealedTo: first[13], sealedLate: first[14] },
    STATE,
  )
  const segments = rows.flatMap((values) =>
    values[0] === null ? [] : [toSegmentRow(values as unknown as SegmentValues)],
  )
  return {
    version,
    sealedTo,
    sealedLate,
    segments: segments.filter(({ isDamaged }) => !isDamaged),
    damaged: segments.filter(({ isDamaged }) => isDamaged),
  }
}

import type { Microseconds } from '../../event/timestamp.js'
import { eventsDigest, keyChecksum } from '../index/checksums.js'
import { SegmentState, UNNAMED_LISTS } from '../index/segment-source.js'
import { TIMES_PER_BLOCK } from '../index/time-blocks.js'
import { sql } from '../sql.js'
import {
  loadSegments,
  lockState,
  nextVersion,
  type SegmentRow,
  summedColumns,
  visibleSegments,
} from './index-rows.js'
import type { Dialect } from './dialect.js'
import type { NewSegment, UnsealedRows, WrittenSegment } from './index-store.js'
import type { Program } from './program.js'
import type { Rebuild } from './repairs.js'

/* The changes of which segments queries read. Each checks what it assumes before it writes. */

const startsDigest = (times: ArrayLike<Microseconds>): number =>
  eventsDigest(
    Float64Array.from(
      { length: Math.ceil(times.length / TIMES_PER_BLOCK) },
      (_, block) => times[block * TIMES_PER_BLOCK]!,
    ),
  )

/** Adds a segment that no query reads yet, and returns its id, which is never used again, also after a crash. */
export function* beginSegment(
  { tables, newSegmentId, hasStarts }: Dialect,
  { level, times, removed, isPartial }: NewSegment,
): Program<number> {
  const [made] = newSegmentId === undefined ? [] : yield sql(newSegmentId)
  const values = {
    id: made ? Number(made[0]) : null,
    state: SegmentState.building,
    level,
    size: times.length,
    first: times[0],
    last: times[times.length - 1],
    removed,
    partial: Number(isPartial),
    digest: eventsDigest(times),
    names: 0,
    chunks: 0,
    checksum: 0,
    ...(hasStarts && { starts: startsDigest(times) }),
  }
  const columns = Object.keys(values)
  const [row] = yield sql(
    `INSERT INTO ${tables.segments} (${columns.join(', ')})
     ${made ? 'OVERRIDING SYSTEM VALUE' : ''} VALUES (${columns.map(() => '?').join(', ')}) RETURNING id`,
    ...Object.values(values),
  )
  return Number(row![0])
}

/**
 * True if the segment is still being built and has all of its chunks: it may have been taken for abandoned, or a crash may
 * have lost chunks whose commit was not durable yet.
 */
function* isWhole(
  { tables: { segments, chunkKeys }, canLoseChunks, forUpdate }: Dialect,
  { id, chunks }: WrittenSegment,
): Program<boolean> {
  const hasChunks = canLoseChunks
    ? sql(` AND (SELECT count(*) FROM ${chunkKeys} WHERE segment = ?) = ?`, id, chunks)
    : sql('')
  const found = yield sql(
    `SELECT 1 FROM ${segments} WHERE id = ? AND state = ${SegmentState.building}${hasChunks.text}${forUpdate}`,
    id,
    ...hasChunks.params,
  )
  return found.length > 0
}

/** Makes queries read a segment that {@link isWhole}. */
function* show(
  { tables: { segments, chunkKeys }, uncountedChunks, hasStarts }: Dialect,
  { id, chunks }: WrittenSegment,
): Program<void> {
  const [row] = yield sql(
    `UPDATE ${segments} SET state = ${SegmentState.visible}, chunks = ? - ${uncountedChunks},
       names = coalesce((SELECT max(name) FROM ${chunkKeys} WHERE segment = ? AND name < ${UNNAMED_LISTS}), 0)
     WHERE id = ? RETURNING ${summedColumns(hasStarts)}`,
    chunks,
    id,
    id,
  )
  const checksum = keyChecksum(row!.map(Number))
  yield sql(`UPDATE ${segments} SET checksum = ? WHERE id = ?`, checksum, id)
}

/** Hides segments from queries. */
export function* hide(
  { tables, isIn, list }: Dialect,
  segments: readonly Pick<SegmentRow, 'id'>[],
): Program<void> {
  yield sql(
    `UPDATE ${tables.segments} SET state = ${SegmentState.gone} WHERE ${isIn('id')}`,
    list(segments.map(({ id }) => id)),
  )
}

/** Replaces segments by others; false, without effect, if any of them is not among those that are `present`. */
function* exchange(
  dialect: Dialect,
  present: readonly Pick<SegmentRow, 'id'>[],
  old: readonly Pick<SegmentRow, 'id'>[],
  written: readonly WrittenSegment[],
): Program<boolean> {
  const there = new Set(present.map(({ id }) => id))
  if (!old.every(({ id }) => there.has(id))) return false
  for (const segment of written) if (!(yield* isWhole(dialect, segment))) return false
  yield* hide(dialect, old)
  for (const segment of written) yield* show(dialect, segment)
  return true
}

/**
 * Makes the segment visible and the events sealed. False, without effect, if any of them were sealed, or the segment was
 * removed, in the meantime. There is no segment for no events.
 */
export function* publish(
  dialect: Dialect,
  segment: WrittenSegment | undefined,
  { version, late, upTo, count = 0, lateTo = null }: UnsealedRows,
): Program<boolean> {
  const { tables, isIn, list } = dialect
  if ((yield* lockState(dialect)).version !== version) return false
  if (segment && !(yield* isWhole(dialect, segment))) return false
  if (segment) yield* show(dialect, segment)
  if (late.length > 0) yield sql(`DELETE FROM ${tables.late} WHERE ${isIn('id')}`, list(late))
  yield* nextVersion(dialect, upTo, { count, lateTo })
  return true
}

/**
 * Replaces the visible segments by the merged one, and lists the events at the times in `duplicates` as unsealed again.
 * False, without effect, if any of the segments is gone.
 */
export function* replace(
  dialect: Dialect,
  parts: readonly SegmentRow[],
  merged: WrittenSegment | undefined,
  duplicates: readonly Microseconds[],
): Program<boolean> {
  const { tables, values, list } = dialect
  const { sealedTo } = yield* lockState(dialect)
  const visible = yield* visibleSegments(dialect)
  if (!(yield* exchange(dialect, visible, parts, merged ? [merged] : []))) return false
  const count = duplicates.length
  if (count > 0)
    yield sql(
      `INSERT INTO ${tables.late} (created_at) SELECT value FROM ${values}`,
      list(duplicates),
    )
  yield* nextVersion(dialect, sealedTo, count > 0 ? { count: -count, lateTo: null } : undefined)
  return true
}

/**
 * Replaces the segments by the ones that were built from the same events. False, without effect, if any of them is gone.
 */
export function* replaceRebuilt(
  dialect: Dialect,
  { segments, isWhole: isWholeIndex }: Rebuild,
  built: readonly WrittenSegment[],
): Program<boolean> {
  const { sealedTo } = yield* lockState(dialect)
  const present = yield* loadSegments(dialect)
  if (!(yield* exchange(dialect, present, segments, built))) return false
  if (isWholeIndex) yield sql(`UPDATE ${dialect.tables.indexState} SET rebuild = false`)
  yield* nextVersion(dialect, sealedTo)
  return true
}

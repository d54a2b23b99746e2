import type { WrittenSegment } from '../../../src/store-kit/index-builder/index-driver.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { DriverContext } from './driver-context.js'
import { type SqliteSegmentRow, visibleSegments } from './index-state.js'
import { forgetRemoved, hasForgotten } from './removed-events.js'
import { hideSegment, nextVersion } from './segment-dropping.js'
import { isBuilding, setVisible } from './segment-writer.js'
import type { UnsealedRows } from './unsealed-rows.js'

// Changes nothing if another process has sealed events in the meantime.
const ADVANCE = `UPDATE daybook_index SET sealed = sealed + ?, sealed_to = ?
  WHERE sealed = ? AND sealed_to = ?`

const DELETE_SEALED_LATE = 'DELETE FROM daybook_late WHERE id IN (SELECT value FROM json_each(?))'

// Late events after the former `sealed_to`, which were sealed with the other events there.
const DELETE_PASSED_LATE =
  'DELETE FROM daybook_late WHERE created_at > ? AND created_at <= ? AND id <= ?'

const SET_SEALED_LATE = `UPDATE daybook_index
  SET sealed_late = coalesce((SELECT min(id) - 1 FROM daybook_late), ?)`

/** Makes a sealed segment visible; see `IndexDriver.publish`. */
export async function publish(
  context: DriverContext,
  segment: WrittenSegment | undefined,
  unsealed: UnsealedRows,
): Promise<boolean> {
  const { extract, start, late, fresh } = unsealed
  const { times } = extract
  const { sealed, sealed_to, late_to, removed } = start
  const { connection, write } = context
  const { statement } = connection
  const count = late.length + fresh
  const sealedTo = fresh > 0 ? times.at(-1)! : sealed_to
  const isPublished = await write(() => {
    if (segment && !isBuilding(connection, segment.id)) return false
    if (hasForgotten(connection, removed)) return false
    if (statement(ADVANCE).run(count, sealedTo, sealed, sealed_to).changes === 0) return false
    statement(DELETE_SEALED_LATE).run(JSON.stringify(late))
    statement(DELETE_PASSED_LATE).run(sealed_to, sealedTo, late_to)
    statement(SET_SEALED_LATE).run(late_to)
    if (segment) setVisible(connection, segment)
    nextVersion(connection)
    return true
  })
  if (isPublished) await forgetRemoved(context, sealed_to, sealedTo)
  return isPublished
}

const INSERT_LATE = 'INSERT INTO daybook_late (created_at) VALUES (?)'

const ADD_APPENDED = 'UPDATE daybook_high_water SET appended = appended + ?'

/** Replaces segments by the merged one; see `IndexDriver.replace`. */
export async function replace(
  context: DriverContext,
  parts: readonly SqliteSegmentRow[],
  merged: WrittenSegment | undefined,
  duplicates: readonly Microseconds[],
): Promise<boolean> {
  const { connection, write } = context
  const { statement } = connection
  const isReplaced = await write(() => {
    const visible = new Set(visibleSegments(connection).map(({ id }) => id))
    if (!parts.every(({ id }) => visible.has(id))) return false
    if (merged && !isBuilding(connection, merged.id)) return false
    for (const { id } of parts) hideSegment(connection, id)
    if (merged) setVisible(connection, merged)
    for (const time of duplicates) statement(INSERT_LATE).run(time)
    if (duplicates.length > 0) statement(ADD_APPENDED).run(duplicates.length)
    nextVersion(connection)
    return true
  })
  if (isReplaced) {
    const from = Math.min(...parts.map(({ first }) => first))
    await forgetRemoved(context, from - 1, Math.max(...parts.map(({ last }) => last)))
  }
  return isReplaced
}

import type { SealingTuning } from '../../../src/store-kit/index-builder/segment-levels.js'
import type { Connection } from '../connection/connection.js'
import { DEFAULT_TUNING } from './index-tables.js'
import { extractedChunks, nameColumns } from './sealing-chunks.js'
import { readEvents, type SealedRows, type SealingStart } from './sealing-rows.js'
import { dropSegment, nextVersion } from './segment-dropping.js'
import {
  beginSegment,
  type Building,
  isBuilding,
  PAUSE,
  setVisible,
  type Step,
  writeChunks,
  writeTimes,
} from './segment-writing.js'

const DUE = `SELECT appended - sealed AS unsealed FROM daybook_high_water, daybook_index`

/** True where there may be enough to be sealed: see `sealNext`. Takes some microseconds. */
export function isSealDue({ statement }: Connection, { segmentSize }: SealingTuning): boolean {
  return (statement(DUE).get() as { readonly unsealed: number }).unsealed >= segmentSize
}

interface Start extends SealingStart {
  readonly appended: number
  readonly sealed: number
  readonly removed: number
  /** How many there are, up to a segment's size: of the late ones, and of those behind `sealed_to`. */
  readonly late: number
  readonly fresh: number
}

// All of one moment. What comes later has a time beyond all that is there, or a later id among the late.
const START = `SELECT appended, sealed, sealed_to, removed,
    coalesce((SELECT max(id) FROM daybook_late), sealed_late) AS late_to,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_late WHERE created_at <= sealed_to LIMIT :size)) AS late,
    (SELECT count(*) FROM
      (SELECT 1 FROM daybook_events WHERE created_at > sealed_to LIMIT :size)) AS fresh
  FROM daybook_index, daybook_high_water`

// What was removed before it was sealed never is.
const CORRECT = 'UPDATE daybook_index SET sealed = ? WHERE sealed = ?'

const MOVE = `UPDATE daybook_index SET sealed = sealed + ?, sealed_to = ?
  WHERE sealed = ? AND sealed_to = ?`

const FORGET_TAKEN = 'DELETE FROM daybook_late WHERE id IN (SELECT value FROM json_each(?))'

const FORGET_MET = 'DELETE FROM daybook_late WHERE created_at > ? AND created_at <= ? AND id <= ?'

const MOVE_LATE = `UPDATE daybook_index
  SET sealed_late = coalesce((SELECT min(id) - 1 FROM daybook_late), ?)`

/**
 * Makes a segment of events that are in none yet, the late ones first, where there are enough of
 * them. False where there are not; true where it may be worth another try: also where somebody else
 * was faster. Whoever gives it up half-way, or gets an error of its reads, leaves a segment behind that
 * `removeOrphans` removes.
 */
export function* sealNext(
  connection: Connection,
  tuning: SealingTuning = DEFAULT_TUNING,
): Generator<Step, boolean> {
  const { statement } = connection
  const { segmentSize } = tuning
  if (!isSealDue(connection, tuning)) return false
  const start = statement(START).get({ size: segmentSize }) as Start
  const { appended, sealed } = start
  if (start.late + start.fresh < segmentSize) {
    yield () => void statement(CORRECT).run(appended - start.late - start.fresh, sealed)
    return false
  }
  yield PAUSE
  const events = yield* readEvents(connection, start, segmentSize)
  const building =
    events.times.length > 0 ? yield* writeEvents(connection, events, start.removed) : undefined
  const isDone = yield* publish(connection, building, start, events)
  if (!isDone && building) yield* dropSegment(connection, building.id)
  return true
}

function* writeEvents(
  connection: Connection,
  { times, columns, unindexed }: SealedRows,
  removed: number,
): Generator<Step, Building> {
  const named = yield* nameColumns(connection, columns.byName)
  const building = yield* beginSegment(connection, 0, times, removed)
  yield* writeTimes(connection, building, times)
  if (!building.isLost) yield* writeChunks(connection, building, extractedChunks(named, unindexed))
  return building
}

/** Makes the segment visible, unless others have sealed events, or removed the segment, meanwhile. */
function* publish(
  connection: Connection,
  building: Building | undefined,
  { sealed, sealed_to, late_to }: Start,
  { times, late, fresh }: SealedRows,
): Generator<Step, boolean> {
  const { statement } = connection
  const newCount = late.length + fresh
  const newTo = fresh > 0 ? times.at(-1)! : sealed_to
  let isDone = false
  yield () => {
    isDone =
      (!building || isBuilding(connection, building)) &&
      statement(MOVE).run(newCount, newTo, sealed, sealed_to).changes > 0
    if (!isDone) return
    statement(FORGET_TAKEN).run(JSON.stringify(late))
    statement(FORGET_MET).run(sealed_to, newTo, late_to)
    statement(MOVE_LATE).run(late_to)
    if (building) setVisible(connection, building)
    nextVersion(connection)
  }
  return isDone
}

import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Work } from '../../../src/store-kit/index/work.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Connection } from '../connection/connection.js'
import { onlyRow } from '../schema/events.js'
import type { DriverContext } from './driver-context.js'
import { loadIndexState } from './index-state.js'

/*
 * The events that were removed by their ids since a segment was built. `daybook_removed` has the time of each such
 * event, and the number of removed events once it was removed, which is higher than that of a segment that has the
 * event. A segment may have an event of the same time that was imported after the removal; then the number of the
 * segment is higher.
 */

/** Rows that are read, and deleted, at once. */
const STEP = 500

/** Times that are looked up at once; each may be in a block of its own. */
const BLOCKS = 16

const COUNTS = 'SELECT removed, removed_before AS removedBefore FROM daybook_index'

const ADD = `INSERT INTO daybook_removed (created_at, removed)
  SELECT ?, removed + 1 FROM daybook_index WHERE true
  ON CONFLICT (created_at) DO UPDATE SET removed = excluded.removed`

const OF_SEGMENT = `SELECT created_at FROM daybook_removed WHERE created_at > ? AND created_at <= ? AND removed > ?
  ORDER BY created_at LIMIT ${STEP}`

const AFTER = `SELECT created_at, removed FROM daybook_removed WHERE created_at > ? AND created_at <= ?
  ORDER BY created_at LIMIT ${STEP}`

const DELETE =
  'DELETE FROM daybook_removed WHERE created_at IN (SELECT value FROM json_each(?)) AND removed <= ?'

const BUILDING = `SELECT removed, first, last FROM daybook_segments
  WHERE state = ${SegmentState.building}`

const SET_FORGOTTEN = 'UPDATE daybook_index SET forgotten = max(forgotten, ?)'

const FORGOTTEN = 'SELECT forgotten FROM daybook_index'

export interface RemovedCounts {
  /** Number of events that were removed by their ids. */
  readonly removed: number
  /** Events before this time may have been removed, too. */
  readonly removedBefore: Microseconds
}

export const readRemoved = (connection: Connection): RemovedCounts =>
  onlyRow(connection, COUNTS) as RemovedCounts

/** Notes that an event was removed, in the transaction that removes it, before it is counted. */
export function noteRemoved({ statement }: Connection, time: Microseconds): void {
  statement(ADD).run(time)
}

const NONE_REMOVED = new Uint32Array(0)

interface Known {
  readonly now: number
  readonly ordinals: Uint32Array
}

/** Removed events that were read before, by segment. */
const known = new WeakMap<IndexPart, Known>()

/** The ordinals of the events of a segment that were removed since it was built, ascending. */
export function* removedOrdinals(
  { statement }: Connection,
  part: IndexPart,
  { built, now }: { readonly built: number; readonly now: number },
): Work<Uint32Array> {
  if (built === now) return NONE_REMOVED
  const before = known.get(part)
  if (before?.now === now) return before.ordinals
  const ordinals: number[] = []
  for (let after = part.first - 1; ;) {
    const rows = statement(OF_SEGMENT).raw(true).all(after, part.last, built) as [Microseconds][]
    for (const [i, [time]] of rows.entries()) {
      const ordinal = part.countBefore(time)
      if (ordinal < part.size && part.timeOf(ordinal) === time) ordinals.push(ordinal)
      if (i % BLOCKS === 0) yield
    }
    if (rows.length < STEP) break
    after = rows.at(-1)![0]
  }
  const found = { now, ordinals: Uint32Array.from(ordinals) }
  known.set(part, found)
  return found.ordinals
}

/** True if records were forgotten of events that were removed after this number of them. */
export const hasForgotten = (connection: Connection, removed: number): boolean =>
  (onlyRow(connection, FORGOTTEN) as { readonly forgotten: number }).forgotten > removed

interface RemovedRow {
  readonly created_at: Microseconds
  readonly removed: number
}

interface Range {
  readonly removed: number
  readonly first: Microseconds
  readonly last: Microseconds
}

/** Deletes the records after `from` and up to `to` of events that no segment has any more. */
export async function forgetRemoved(
  { connection, steps, write }: DriverContext,
  from: Microseconds,
  to: Microseconds,
): Promise<void> {
  const { statement } = connection
  for (let after = from; ;) {
    const rows = statement(AFTER).all(after, to) as RemovedRow[]
    if (rows.length === 0) return
    const { segments, damaged } = loadIndexState(connection)
    // The range of a damaged segment may be wrong.
    if (damaged.length > 0) return
    const ranges = [...segments, ...(statement(BUILDING).all() as Range[])]
    const past = rows.filter(
      ({ created_at: time, removed }) =>
        !ranges.some((row) => row.removed < removed && row.first <= time && row.last >= time),
    )
    if (past.length > 0)
      await write(() => {
        const last = Math.max(...past.map(({ removed }) => removed))
        statement(DELETE).run(JSON.stringify(past.map((row) => row.created_at)), last)
        statement(SET_FORGOTTEN).run(last)
      })
    if (rows.length < STEP) return
    after = rows.at(-1)!.created_at
    await steps.pause()
  }
}

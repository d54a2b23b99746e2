import { isSealedSinceRemoval } from '../../../src/store-kit/damages.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Work } from '../../../src/store-kit/index/work.js'
import type { IndexPart } from '../../../src/store-kit/index/part.js'
import {
  type IndexState,
  loadState,
  type SegmentRow,
} from '../../../src/store-kit/maintenance/index-rows.js'
import type { Connection } from '../connection/connection.js'
import { DIALECT, runProgram } from './dialect.js'

/* The events that were removed by their ids: see src/store-kit/maintenance/removed-events.ts. */

/** Rows that are read at once. */
const STEP = 500

/** Times that are looked up at once; each may be in a block of its own. */
const BLOCKS = 16

const ADD = `INSERT INTO daybook_removed (created_at, removed)
  SELECT ?, removed + 1 FROM daybook_index WHERE true
  ON CONFLICT (created_at) DO UPDATE SET removed = excluded.removed`

const OF_SEGMENT = `SELECT created_at FROM daybook_removed WHERE created_at > ? AND created_at <= ? AND removed > ?
  ORDER BY created_at LIMIT ${STEP}`

/** The counts of removed events, with the rest of the state of the index. */
export const readRemoved = (connection: Connection): IndexState =>
  runProgram(connection, loadState(DIALECT))

const EXISTS = 'SELECT 1 FROM daybook_events WHERE created_at = ?'

/** True if no row has this time, although one of the segments does, and no event was removed since they were built. */
export function isLost(
  connection: Connection,
  segments: readonly Pick<SegmentRow, 'removed' | 'first' | 'last'>[],
  time: Microseconds,
): boolean {
  if (connection.statement(EXISTS).get(time)) return false
  const { removed, removedBefore } = readRemoved(connection)
  return time >= removedBefore && isSealedSinceRemoval(segments, removed, time)
}

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

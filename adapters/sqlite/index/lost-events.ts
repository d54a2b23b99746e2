import type { Microseconds } from '../../../src/event/timestamp.js'
import { isSealedSinceRemoval } from '../../../src/store-kit/damages.js'
import type { Connection } from '../connection/connection.js'
import { onlyRow } from '../schema/events.js'
import type { SqliteSegmentRow } from './index-state.js'

const EXISTS = 'SELECT 1 FROM daybook_events WHERE created_at = ?'

const REMOVED = 'SELECT removed, removed_before FROM daybook_index'

/** True if no row has this time, although one of the segments does, and no event was removed since they were built. */
export function isLost(
  connection: Connection,
  segments: readonly Pick<SqliteSegmentRow, 'removed' | 'first' | 'last'>[],
  time: Microseconds,
): boolean {
  if (connection.statement(EXISTS).get(time)) return false
  const { removed, removed_before } = onlyRow(connection, REMOVED) as {
    readonly removed: number
    readonly removed_before: Microseconds
  }
  return time >= removed_before && isSealedSinceRemoval(segments, removed, time)
}

import type { Microseconds } from '../../../src/event/timestamp.js'
import { isSealedSinceRemoval } from '../../../src/store-kit/damages.js'
import type { Connection } from '../connection/connection.js'
import type { SegmentRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { readRemoved } from './removed-events.js'

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

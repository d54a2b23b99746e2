import type { Due } from '../../../src/store-kit/index-builder/sealer.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { Connection } from '../connection/connection.js'
import { isLeased } from './lease.js'

const UNSEALED = 'SELECT appended - sealed AS unsealed FROM daybook_high_water, daybook_index'

// Segments that were abandoned, or that end before the oldest event.
const HAS_SEGMENTS_TO_DROP = `SELECT EXISTS (SELECT 1 FROM daybook_segments WHERE state <> ${SegmentState.visible}
  OR last < (SELECT coalesce(min(created_at), ${Number.MAX_SAFE_INTEGER}) FROM daybook_events)) AS hasSome`

/** True if `size` events may be unsealed; removed events count until `readUnsealed` corrects the number. Takes microseconds. */
export const isSealDue = ({ statement }: Connection, size: number): boolean =>
  (statement(UNSEALED).get() as { readonly unsealed: number }).unsealed >= size

function isWorkDue(connection: Connection, segmentSize: number): boolean {
  if (isSealDue(connection, segmentSize)) return true
  const { hasSome } = connection.statement(HAS_SEGMENTS_TO_DROP).get() as {
    readonly hasSome: 0 | 1
  }
  return hasSome === 1
}

/** Whether a round would find work. Takes microseconds. */
export function findDue(connection: Connection, segmentSize: number, now: Microseconds): Due {
  if (isLeased(connection, now)) return 'leased'
  return isWorkDue(connection, segmentSize) ? 'due' : 'nothing'
}

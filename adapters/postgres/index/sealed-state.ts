import type { Microseconds } from '../../../src/event/timestamp.js'
import { SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Opened, Opening } from '../log/snapshot.js'
import type { Names } from '../schema/names.js'
import {
  type IndexState,
  readSegmentRow,
  readStateRow,
  type SegmentRow,
  stateSql,
} from '../../../src/store-kit/maintenance/index-rows.js'
import { isListedSql } from '../../../src/store-kit/maintenance/removed-events.js'
import { serverSql } from '../schema/server.js'
import { damagedIndexState, selectSegments } from './index-state.js'

/** Late, removed and unsealed events are read, or counted, up to one more than these. */
export const MAX_LATE = 100
export const MAX_REMOVED = 100
const MAX_UNSEALED = 20_000

/** The index as a snapshot has it, read without any event. */
export interface SealedState extends IndexState {
  /** The server that answered; see `serverSql`. */
  readonly server: string
  /** The visible and the damaged segments. */
  readonly segments: readonly SegmentRow[]
  /** The times of the events before `sealedTo` that are in no segment. */
  readonly late: readonly Microseconds[]
  /** The times of events that visible segments have and that were removed. */
  readonly removedTimes: readonly Microseconds[]
  /** The ids of the visible segments that have such events. */
  readonly changed: ReadonlySet<number>
  /** Number of the events after `sealedTo`; 0 if the segments have fewer than the events that were asked for. */
  readonly unsealed: number
}

/** The statements whose rows `readSealed` needs. Unsealed events are counted if `minIndexed` events are sealed. */
export function sealedStatements(names: Names, minIndexed: number): Opening {
  const { indexState, late, events, removed } = names
  const visible = `${names.segments} AS s WHERE s.state = ${SegmentState.visible}`
  const sealedTo = `(SELECT sealed_to FROM ${indexState})`
  return {
    sealedState: stateSql(
      indexState,
      `, CASE WHEN (SELECT sum(s.size) FROM ${visible}) >= ${minIndexed} THEN
        (SELECT count(*) FROM (SELECT FROM ${events} WHERE created_at > ${sealedTo}
          ORDER BY created_at LIMIT ${MAX_UNSEALED + 1}) AS fresh)
      ELSE 0 END, ${serverSql(names)}`,
    ),
    segments: selectSegments(names),
    late: `SELECT created_at FROM ${late} WHERE created_at <= ${sealedTo} LIMIT ${MAX_LATE + 1}`,
    removedTimes: `SELECT created_at FROM ${removed} AS r
      WHERE EXISTS (SELECT FROM ${visible} AND ${isListedSql}) LIMIT ${MAX_REMOVED + 1}`,
    changed: `SELECT id FROM ${visible} AND EXISTS (SELECT FROM ${removed} AS r WHERE ${isListedSql})`,
  }
}

/** `undefined` if the statements were not sent. */
export function readSealed(opened: Opened): SealedState | undefined {
  const { sealedState, segments, late, removedTimes, changed } = opened
  if (!sealedState || !segments || !late || !removedTimes || !changed) return undefined
  const numbers = sealedState[0]?.slice(0, -1)
  return {
    ...readStateRow(numbers, damagedIndexState),
    server: sealedState[0]!.at(-1)!,
    unsealed: Number(numbers!.at(-1)),
    segments: segments.map(readSegmentRow),
    late: late.map(([time]) => Number(time)),
    removedTimes: removedTimes.map(([time]) => Number(time)),
    changed: new Set(changed.map(([id]) => Number(id))),
  }
}

import { type SegmentInfo, SegmentState } from '../../../src/store-kit/index/segment-source.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'

/*
 * What of a log's index has changed, and the events that are in no segment yet: by one statement, and by
 * further ones where there is more than a slice.
 */

/** As `EVENT_COLUMNS` prints them. */
const EVENT_TEXTS = `e.created_at::text, e.suffix, e.type, e.username, e.source,
  CASE WHEN e.system THEN 't' ELSE 'f' END, e.attributes::text`
const NO_EVENT = 'NULL, NULL, NULL, NULL, NULL, NULL, NULL'

/** What is listed as late, in the order in which it is read. */
export interface LateRow {
  readonly transaction: bigint
  readonly id: string
  readonly time: Microseconds
}

export interface Refreshed {
  /** That of what was known. */
  readonly stage: number
  readonly version: number
  readonly sealedTo: Microseconds
  /** All earlier transactions are over. */
  readonly running: bigint
  readonly late: readonly LateRow[]
  /** Rows of events in the order of their times. */
  readonly fresh: readonly TextRow[]
}

/** What a process knows of the index. */
export interface Known {
  /** Rises with all that it takes in, and comes back with the answer. */
  readonly stage: number
  /** The last of the events in the order of their times. */
  readonly last: Microseconds
  /** All late ones of earlier transactions are known, and of later ones those with these ids. */
  readonly before: bigint
  readonly taken: readonly string[]
}

const selectFresh = (
  { events }: Names,
  slice: number,
  columns: string,
  condition: string,
): string =>
  `SELECT ${columns} FROM ${events} AS e WHERE ${condition} ORDER BY e.created_at LIMIT ${slice}`

const selectLate = ({ late }: Names, slice: number, condition: string): string =>
  `SELECT 'late', l.id::text, l.transaction::text, l.created_at::text, NULL, ${NO_EVENT}
   FROM ${late} AS l WHERE ${condition} ORDER BY l.transaction, l.id LIMIT ${slice}`

/** The state, and what is not known: of late ones and of fresh ones a slice. Without parameters: all are numbers. */
export function refreshStatement(
  names: Names,
  slice: number,
  { stage, last, before, taken }: Known,
): string {
  const isNotTaken = `l.id <> ALL ('{${taken.join()}}'::bigint[])`
  return `
    SELECT 'state', version::text, sealed_to::text, pg_snapshot_xmin(pg_current_snapshot())::text,
      '${stage}', ${NO_EVENT}
    FROM ${names.indexState}
    UNION ALL
    (${selectLate(names, slice, `l.transaction >= '${before}'::xid8 AND ${isNotTaken}`)})
    UNION ALL
    (${selectFresh(
      names,
      slice,
      `'fresh', NULL, NULL, NULL, NULL, ${EVENT_TEXTS}`,
      `e.created_at > ${last}`,
    )})`
}

/** The segments of the state that the snapshot sees. */
export const visibleStatement = ({ segments }: Names): string =>
  `SELECT id, size, first, last FROM ${segments} WHERE state = ${SegmentState.visible} ORDER BY first, id`

export function readSegmentInfo(row: TextRow): SegmentInfo {
  const [id, size, first, last] = row.map(Number)
  return { id: id!, size: size!, first: first!, last: last! }
}

export const readLateRow = (row: TextRow): LateRow => ({
  id: row[1]!,
  transaction: BigInt(row[2]!),
  time: Number(row[3]),
})

export function readRefreshed(rows: readonly TextRow[]): Refreshed {
  const ofKind = (kind: string): readonly TextRow[] => rows.filter((row) => row[0] === kind)
  const [state] = ofKind('state')
  return {
    stage: Number(state![4]),
    version: Number(state![1]),
    sealedTo: Number(state![2]),
    running: BigInt(state![3]!),
    late: ofKind('late').map(readLateRow),
    fresh: ofKind('fresh').map((row) => row.slice(5)),
  }
}

/** Further slices, behind a time, and behind a late one: its transaction and its id. */
export const moreFresh = (names: Names, slice: number): string =>
  selectFresh(names, slice, EVENT_TEXTS, 'e.created_at > $1')
export const moreLate = (names: Names, slice: number): string =>
  selectLate(names, slice, '(l.transaction, l.id) > ($1::xid8, $2::bigint)')

/** Those of the times whose events are there. */
export const eventsAt = ({ events }: Names): string =>
  `SELECT ${EVENT_TEXTS} FROM ${events} AS e WHERE e.created_at = ANY ($1::bigint[])`

/** How many there are behind them, counted up to the last parameter. */
export const countFresh = ({ events }: Names): string =>
  `SELECT count(*) FROM (SELECT FROM ${events} WHERE created_at > $1 ORDER BY created_at LIMIT $2) AS e`
export const countLate = ({ late }: Names): string =>
  `SELECT count(*) FROM
     (SELECT FROM ${late} WHERE (transaction, id) > ($1::xid8, $2::bigint) LIMIT $3) AS l`

import type { SegmentInfo } from '../../../src/indexing/segment-source.js'
import type { Microseconds } from '../../../src/timestamp.js'
import type { TextRow } from '../client.js'
import type { Names } from '../names.js'
import { State } from './segment-keys.js'

/*
 * What of a log's index has changed, and the events that are in no segment yet: by one statement, and by
 * further ones where there is more than a slice.
 */

/** As `EVENT_COLUMNS` prints them. */
const EVENT_TEXTS = `e.created_at::text, e.tail, e.type, e.username, e.source,
  CASE WHEN e.system THEN 't' ELSE 'f' END, e.attributes::text`
const NO_EVENT = 'NULL, NULL, NULL, NULL, NULL, NULL, NULL'

/** What is listed as late, in the order in which it is read. */
export interface LateRow {
  readonly transaction: bigint
  readonly id: string
  readonly time: Microseconds
}

export interface Refreshed {
  readonly version: number
  readonly sealedTo: Microseconds
  /** All earlier transactions are over. */
  readonly running: bigint
  /** By the times of their first events; none where the version is known. */
  readonly segments: readonly SegmentInfo[]
  readonly late: readonly LateRow[]
  /** Rows of events in the order of their times. */
  readonly fresh: readonly TextRow[]
}

const isNewer = ({ indexState }: Names): string => `(SELECT version <> $1 FROM ${indexState})`

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

/**
 * Of the version and the time that are known, late ones from a transaction on but for some ids: of these and of
 * the fresh ones a slice.
 */
export const refreshStatement = (names: Names, slice: number): string => `
  SELECT 'state', version::text, sealed_to::text, pg_snapshot_xmin(pg_current_snapshot())::text,
    NULL, ${NO_EVENT}
  FROM ${names.indexState}
  UNION ALL
  SELECT 'segment', id::text, size::text, first::text, last::text, ${NO_EVENT}
  FROM ${names.segments} WHERE state = ${State.visible} AND ${isNewer(names)}
  UNION ALL
  (${selectLate(
    names,
    slice,
    `l.transaction >= CASE WHEN ${isNewer(names)} THEN '0'::xid8 ELSE $3::xid8 END
     AND (${isNewer(names)} OR l.id <> ALL ($4::bigint[]))`,
  )})
  UNION ALL
  (${selectFresh(
    names,
    slice,
    `'fresh', NULL, NULL, NULL, NULL, ${EVENT_TEXTS}`,
    `e.created_at > $2 AND e.created_at > (SELECT sealed_to FROM ${names.indexState})`,
  )})`

export const readLateRow = (row: TextRow): LateRow => ({
  id: row[1]!,
  transaction: BigInt(row[2]!),
  time: Number(row[3]),
})

export function readRefreshed(rows: readonly TextRow[]): Refreshed {
  const ofKind = (kind: string): readonly TextRow[] => rows.filter((row) => row[0] === kind)
  const [state] = ofKind('state')
  const segments = ofKind('segment').map((row): SegmentInfo => {
    const [id, size, first, last] = row.slice(1, 5).map(Number)
    return { id: id!, size: size!, first: first!, last: last! }
  })
  return {
    version: Number(state![1]),
    sealedTo: Number(state![2]),
    running: BigInt(state![3]!),
    segments: segments.toSorted((a, b) => a.first - b.first || a.id - b.id),
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

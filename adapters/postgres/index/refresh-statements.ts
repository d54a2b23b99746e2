import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Names } from '../schema/names.js'
import { type IndexState, readStateRow } from '../../../src/store-kit/maintenance/index-rows.js'
import { damagedIndexState } from './index-state.js'
import { serverSql } from '../schema/server.js'

/*
 * Statements that read what has changed in a log's index, and the events that are in no segment yet: one
 * statement for the first slice, and others for further slices.
 */

/** `STORED_COLUMNS` as text. */
const EVENT_TEXTS = `e.created_at::text, e.suffix, e.type, e.username, e.source,
  CASE WHEN e.system THEN 't' ELSE 'f' END, e.attributes::text, e.checksum::text`
const NO_EVENT = 'NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL'

/** An entry of the list of late events, which is read by transaction and id. */
export interface LateRow {
  readonly transaction: bigint
  readonly id: string
  readonly time: Microseconds
}

/** The state of the index, what is new in it, and the events that are in no segment yet. */
export interface Refreshed extends IndexState {
  /** The server that answered; see `serverSql`. */
  readonly server: string
  /** The stage of the request. */
  readonly stage: number
  /** The oldest transaction that may still be running. */
  readonly running: bigint
  readonly late: readonly LateRow[]
  /** Rows of events, by time. */
  readonly fresh: readonly TextRow[]
  /** The number of these rows that were asked for. */
  readonly maxFresh: number
}

/** The state of the index that a process has read. */
export interface Known {
  /** The stage of the additions so far. The statement returns it with its rows, so that outdated rows are noticed. */
  readonly stage: number
  /** Number of events to read. */
  readonly maxFresh: number
  /** Time of the last event that was read in order. */
  readonly last: Microseconds
  /** All late events of earlier transactions were read. */
  readonly before: bigint
  /** Ids of late events of later transactions that were read. */
  readonly added: readonly string[]
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

/** Reads the state, and a slice each of new late events and new events. All values are numbers and part of the text. */
export function refreshStatement(
  names: Names,
  slice: number,
  { stage, maxFresh, last, before, added }: Known,
): string {
  const isNotAdded = `l.id <> ALL ('{${added.join()}}'::bigint[])`
  return `
    SELECT 'state', version::text, sealed_to::text, removed::text, removed_before::text,
      CASE WHEN rebuild THEN '1' ELSE '0' END, ${serverSql(names)},
      pg_snapshot_xmin(pg_current_snapshot())::text, '${stage}', '${maxFresh}', NULL, NULL, NULL
    FROM ${names.indexState}
    UNION ALL
    (${selectLate(names, slice, `l.transaction >= '${before}'::xid8 AND ${isNotAdded}`)})
    UNION ALL
    (${selectFresh(
      names,
      maxFresh,
      `'fresh', NULL, NULL, NULL, NULL, ${EVENT_TEXTS}`,
      `e.created_at > ${last}`,
    )})`
}

export const readLateRow = (row: TextRow): LateRow => ({
  id: row[1]!,
  transaction: BigInt(row[2]!),
  time: Number(row[3]),
})

export function readRefreshed(rows: readonly TextRow[]): Refreshed {
  const ofKind = (kind: string): readonly TextRow[] => rows.filter((row) => row[0] === kind)
  const [state] = ofKind('state')
  const [server, running, stage, maxFresh] = state?.slice(6) ?? []
  return {
    ...readStateRow(state?.slice(1, 6), damagedIndexState),
    stage: Number(stage),
    server: server!,
    running: BigInt(running!),
    late: ofKind('late').map(readLateRow),
    fresh: ofKind('fresh').map((row) => row.slice(5)),
    maxFresh: Number(maxFresh),
  }
}

/** Reads the next slice of events, after the time `$1`. */
export const moreFresh = (names: Names, slice: number): string =>
  selectFresh(names, slice, EVENT_TEXTS, 'e.created_at > $1')
/** Reads the next slice of late events, after the transaction `$1` and the id `$2`. */
export const moreLate = (names: Names, slice: number): string =>
  selectLate(names, slice, '(l.transaction, l.id) > ($1::xid8, $2::bigint)')

/** Reads the events at the given times. */
export const eventsAt = ({ events }: Names): string =>
  `SELECT ${EVENT_TEXTS} FROM ${events} AS e WHERE e.created_at = ANY ($1::bigint[])`

/** Counts the rest, up to the last parameter. */
export const countFresh = ({ events }: Names): string =>
  `SELECT count(*) FROM (SELECT FROM ${events} AS e WHERE created_at > $1 ORDER BY created_at LIMIT $2) AS fresh`
export const countLate = ({ late }: Names): string =>
  `SELECT count(*) FROM
     (SELECT FROM ${late} WHERE (transaction, id) > ($1::xid8, $2::bigint) LIMIT $3) AS l`

import { parseEventId } from '../../../src/event/event-id.js'
import type { AuditEvent } from '../../../src/event/event.js'
import type { QueryTrace } from '../../../src/store/trace.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { TimesOf } from '../../../src/store-kit/index/find-postings.js'
import { type IndexFilter, idsOf } from '../../../src/store-kit/index/index-filter.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { Coverage, LogIndex } from '../index/log-index.js'
import { type IndexSession, openSession } from '../index/session.js'
import type { ListTrace } from './list-trace.js'
import type { Names } from '../schema/names.js'
import type { Opened, Snapshot } from '../log/reader.js'
import { EVENT_COLUMNS } from '../schema/rows.js'
import type { Run } from './ranges.js'

/** What a log's events are read from. */
export interface Indexed {
  readonly names: Names
  /** `undefined` where the index is not to be asked. */
  readonly index: LogIndex | undefined
  /** How many rows are looked at before the index is asked, in any case. */
  readonly firstProbe: number
}

/** A list that is being answered, in one snapshot. */
export interface Answer {
  readonly indexed: Indexed
  readonly snapshot: Snapshot
  /** What was asked along with its beginning. */
  readonly opened: Opened
  readonly run: Run
  readonly query: EventQuery
  /** What the index can tell of the filter, and what SQL can. */
  readonly filter: IndexFilter | undefined
  readonly where: Sql | undefined
  readonly toEvent: (row: TextRow) => AuditEvent
  readonly told: ListTrace
  readonly trace: QueryTrace | undefined
}

/** Thrown where the index has dropped what a snapshot would need: a newer one is to be taken. */
export const OUTDATED = new Error('the snapshot is older than what is known of the index')

/** What the index knows of the events in the answer's snapshot. */
export async function coverageIn({ snapshot, opened }: Answer, index: LogIndex): Promise<Coverage> {
  const coverage = await index.refresh(snapshot, opened['index'])
  if (coverage === 'outdated') throw OUTDATED
  return coverage
}

/** The times of the events with the ids that the filter names, where they are no others'. */
export async function timesOfIds(
  run: Run,
  { foreignIds }: Names,
  filter: IndexFilter | undefined,
): Promise<TimesOf> {
  const ids = idsOf(filter)
  const rows =
    ids.length === 0
      ? []
      : await run(sql(`SELECT id, created_at FROM ${foreignIds} WHERE id = ANY (?::text[])`, ids))
  const foreign = new Map(rows.map(([id, time]) => [id!, Number(time)]))
  return (ids) => ids.flatMap((id) => foreign.get(id) ?? parseEventId(id)?.time ?? [])
}

/** The part of the index that is within the bounds, whose reading is told to the step under way. */
export async function sessionOf(
  { indexed: { names }, snapshot, run, filter, trace }: Answer,
  index: LogIndex,
  coverage: Coverage,
  bounds: TimeBounds,
): Promise<IndexSession> {
  const session = openSession({
    names,
    snapshot,
    cache: index.cache,
    coverage,
    bounds,
    filter,
    timesOf: await timesOfIds(run, names, filter),
    onRead(parts, pieces) {
      if (!trace?.current) return
      trace.current.parts_read += parts
      trace.current.reads += pieces
    },
  })
  if (trace?.current) trace.current.parts += session.parts.length
  return session
}

// Rows of one answer.
export const FETCHED = 1000

/** The rows that are there at the times, in no order. */
export async function rowsAt(
  { run, indexed: { names } }: Answer,
  times: readonly Microseconds[],
): Promise<TextRow[]> {
  const rows: TextRow[] = []
  for (let from = 0; from < times.length; from += FETCHED) {
    const some = times.slice(from, from + FETCHED)
    rows.push(
      ...(await run(
        sql(
          `SELECT ${EVENT_COLUMNS} FROM ${names.events} WHERE created_at = ANY (?::bigint[])`,
          some,
        ),
      )),
    )
  }
  return rows
}

export const timeOf = (row: TextRow): Microseconds => Number(row[0])

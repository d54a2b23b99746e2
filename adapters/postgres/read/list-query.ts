import { parseEventId } from '../../../src/event/event-id.js'
import type { AuditEvent } from '../../../src/event/event.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import type { QueryTrace } from '../../../src/store/trace.js'
import type { EventQuery } from '../../../src/filter/ast.js'
import type { TimeBounds } from '../../../src/filter/bounds.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import { isSealedSinceRemoval, missingEvent } from '../../../src/store-kit/damages.js'
import type { TimesOf } from '../../../src/store-kit/index/find-postings.js'
import { type IndexFilter, idsOf } from '../../../src/store-kit/index/index-filter.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { TextRow } from '../connection/client.js'
import type { LogIndex } from '../index/log-index.js'
import type { Coverage } from '../index/server-index.js'
import { type IndexSession, openSession } from '../index/session.js'
import type { ListTrace } from './list-trace.js'
import type { TakeMatching } from './matching.js'
import type { Names } from '../schema/names.js'
import type { Opened, Snapshot } from '../log/snapshot.js'
import { type CheckRows, STORED_COLUMNS } from '../schema/rows.js'
import type { Run } from './ranges.js'

/** The tables and the index of a log. */
export interface Indexed {
  readonly names: Names
  /** `undefined` if the index must not be used. */
  readonly index: LogIndex | undefined
  /** How many rows a list reads before it uses the index. */
  readonly firstProbe: number
  readonly damages: DamageReporter
}

/** The state of one list query in one snapshot. */
export interface ListQuery {
  readonly indexed: Indexed
  readonly snapshot: Snapshot
  /** The rows of the statements that were sent with the BEGIN of the snapshot. */
  readonly opened: Opened
  readonly run: Run
  readonly query: EventQuery
  /** See `ListPlan`. */
  readonly near: TimeBounds
  /** The part of the filter that the index can answer; `undefined` if none. */
  readonly filter: IndexFilter | undefined
  /** The part of the filter that SQL can test; `undefined` if none. */
  readonly where: Sql | undefined
  readonly toEvent: (row: TextRow) => AuditEvent
  /** Leaves out damaged rows. */
  readonly check: CheckRows
  /** Tests events with the whole filter. */
  readonly takeMatching: TakeMatching
  /** The matching events so far, and the size of their attributes, in a list by time. */
  readonly found: { events: number; size: number }
  readonly steps: ListTrace
  readonly trace: QueryTrace | undefined
}

/** Thrown if the index has dropped segments that the snapshot needs; a newer snapshot is needed. */
export const SNAPSHOT_OUTDATED = new Error(
  'the snapshot is older than the cached state of the index',
)

/** Which events of the snapshot the index covers. Throws `SNAPSHOT_OUTDATED`. */
export async function coverageIn(
  { snapshot, opened }: ListQuery,
  index: LogIndex,
): Promise<Coverage> {
  const coverage = await index.refresh(snapshot, opened['index'])
  if (coverage === 'outdated') throw SNAPSHOT_OUTDATED
  return coverage
}

/** Looks up the imported ids of the filter; returns a function from ids to the times of their events. */
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

/** Opens the index within the bounds; what it reads is added to the current step of the trace. */
export async function openIndexSession(
  { indexed: { names }, snapshot, run, filter, trace }: ListQuery,
  coverage: Coverage,
  bounds: TimeBounds,
): Promise<IndexSession> {
  const session = openSession({
    names,
    snapshot,
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

/** Maximum number of rows of one statement. */
export const BATCH_ROWS = 1000

/**
 * The rows at the times, in no particular order; a time without a row is skipped. A row that does not pass `where` has
 * NULL as attributes, so that the server need not send them.
 */
async function rowsAt(
  { run, indexed: { names } }: ListQuery,
  times: readonly Microseconds[],
  where: Sql | undefined,
): Promise<TextRow[]> {
  const columns = where ? testedColumns(where) : sql(STORED_COLUMNS)
  const rows: TextRow[] = []
  for (let from = 0; from < times.length; from += BATCH_ROWS) {
    const some = times.slice(from, from + BATCH_ROWS)
    rows.push(
      ...(await run(
        sql(
          `SELECT ${columns.text} FROM ${names.events} WHERE created_at = ANY (?::bigint[])`,
          ...columns.params,
          some,
        ),
      )),
    )
  }
  return rows
}

const testedColumns = ({ text, params }: Sql): Sql =>
  sql(
    STORED_COLUMNS.replace('attributes', () => `CASE WHEN ${text} THEN attributes END`),
    ...params,
  )

/**
 * The rows of events that the index has found, maybe without some that do not match. Reports those that are gone, unless
 * they were removed.
 */
export async function rowsOfFound(
  list: ListQuery,
  { segments, removed, removedBefore, hasUnlisted }: Coverage,
  times: readonly Microseconds[],
): Promise<TextRow[]> {
  const { damages } = list.indexed
  const rows = await rowsAt(list, times, hasUnlisted ? list.where : undefined)
  const passing = hasUnlisted ? rows.filter((row) => row[6] !== null) : rows
  if (rows.length === times.length) return passing
  const present = new Set(rows.map(timeOf))
  const isLost = (time: Microseconds): boolean =>
    time >= removedBefore && isSealedSinceRemoval(segments, removed, time)
  for (const time of times)
    if (!present.has(time) && isLost(time)) damages.report(missingEvent(time))
  return passing
}

export const timeOf = (row: TextRow): Microseconds => Number(row[0])

/** The size of the attributes of the rows, in characters of JSON. */
export const sizeOf = (rows: readonly TextRow[]): number =>
  rows.reduce((sum, row) => sum + row[6]!.length, 0)

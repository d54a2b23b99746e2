import { parseEventId } from '../../../src/event/event-id.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import type { DamageReporter } from '../../../src/store/damage.js'
import { isSealedSinceRemoval, missingEvent } from '../../../src/store-kit/damages.js'
import type { TimesOf } from '../../../src/store-kit/index/find-postings.js'
import { type IndexFilter, idsOf } from '../../../src/store-kit/index/index-filter.js'
import { type Sql, sql } from '../../../src/store-kit/sql.js'
import type { TextRow } from '../connection/client.js'
import type { LogIndex } from '../index/log-index.js'
import type { Coverage } from '../index/server-index.js'
import type { Names } from '../schema/names.js'
import { STORED_COLUMNS } from '../schema/rows.js'
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

/**
 * The rows at the times, in no particular order; a time without a row is skipped. A row that does not pass `where` has
 * NULL as attributes, so that the server need not send them.
 */
async function rowsAt(
  run: Run,
  { events }: Names,
  times: readonly Microseconds[],
  where: Sql | undefined,
): Promise<TextRow[]> {
  const { text, params } = where ? testedColumns(where) : sql(STORED_COLUMNS)
  const select = `SELECT ${text} FROM ${events} WHERE created_at = ANY (?::bigint[])`
  return run(sql(select, ...params, times))
}

const testedColumns = ({ text, params }: Sql): Sql =>
  sql(
    STORED_COLUMNS.replace('attributes', () => `CASE WHEN ${text} THEN attributes END`),
    ...params,
  )

/** Events that the index has found. */
interface Found {
  readonly coverage: Coverage
  /** The part of the filter that SQL can test; `undefined` if none. */
  readonly where: Sql | undefined
  readonly times: readonly Microseconds[]
}

/**
 * The rows of events that the index has found, maybe without some that do not match. Reports those that are gone, unless
 * they were removed.
 */
export async function rowsOfFound(
  run: Run,
  { names, damages }: Indexed,
  { coverage, where, times }: Found,
): Promise<readonly TextRow[]> {
  const { segments, removed, removedBefore, hasUnlisted } = coverage
  const rows = await rowsAt(run, names, times, hasUnlisted ? where : undefined)
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

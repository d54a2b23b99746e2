import { quoteName } from '../../../src/store-kit/sql.js'
import {
  DAY,
  formatTimestamp,
  type Microseconds,
  parseTimestamp,
} from '../../../src/event/timestamp.js'
import { ask, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names, Partitions } from './names.js'

/** The period of a partition; `to` is excluded. */
export interface Period {
  readonly name: string
  readonly from: Microseconds
  readonly to: Microseconds
}

const startOf = (date: string): Microseconds => parseTimestamp(date)!

/** The calendar month or day, in UTC, that contains the time. */
export function periodOf(time: Microseconds, partitions: 'month' | 'day'): Period {
  const date = formatTimestamp(time).slice(0, partitions === 'day' ? 10 : 7)
  const from = startOf(partitions === 'day' ? date : `${date}-01`)
  // 31 days after its first day is always in the next month.
  const next = formatTimestamp(from + 31 * DAY).slice(0, 7)
  const to = partitions === 'day' ? from + DAY : startOf(`${next}-01`)
  return { name: `events_${date.replaceAll('-', '')}`, from, to }
}

/** Names and bounds of the attached partitions. */
const PARTITIONS = `
  SELECT child.relname, pg_get_expr(child.relpartbound, child.oid)
  FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = $1::regclass AND NOT inhdetachpending`

async function withoutPartitions(
  client: PostgresPoolClient,
  { events }: Names,
  periods: readonly Period[],
): Promise<readonly Period[]> {
  const missing = new Map(periods.map((period) => [period.name, period]))
  for (const [name] of await ask(client, PARTITIONS, events)) missing.delete(name!)
  return [...missing.values()]
}

/** The periods of these times that have no partition. */
export async function missingPeriods(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  times: readonly Microseconds[],
): Promise<readonly Period[]> {
  if (partitions === 'none') return []
  const periods = times.map((time) => periodOf(time, partitions))
  return withoutPartitions(client, names, periods)
}

/**
 * Creates the partitions of these periods that are still missing. `ATTACH PARTITION` blocks neither readers nor
 * writers of other partitions: https://www.postgresql.org/docs/current/ddl-partitioning.html
 */
export async function makePartitions(
  client: PostgresPoolClient,
  names: Names,
  periods: readonly Period[],
): Promise<void> {
  const { schema, events, locks } = names
  await runInTransaction(client, async () => {
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.schema})`)
    // After this no process is removing a partition; one that died may have left a detached table.
    await ask(client, `SELECT pg_advisory_xact_lock(${locks.removal})`)
    for (const { name, from, to } of await withoutPartitions(client, names, periods)) {
      const table = `${schema}.${quoteName(name)}`
      await ask(client, `DROP TABLE IF EXISTS ${table}`)
      await ask(client, `CREATE TABLE ${table} (LIKE ${events} INCLUDING ALL)`)
      await ask(
        client,
        `ALTER TABLE ${events} ATTACH PARTITION ${table} FOR VALUES FROM (${from}) TO (${to})`,
      )
    }
  })
}

// Events of one append are a microsecond apart and end at the current time.
const MAX_APPEND_LENGTH = 10_000

/** Times in the periods that need a partition: the current one and the next two. */
export function periodsAhead(time: Microseconds, partitions: Partitions): Microseconds[] {
  if (partitions === 'none') return []
  const next = periodOf(time, partitions).to
  return [time - MAX_APPEND_LENGTH, time, next, periodOf(next, partitions).to]
}

/**
 * Drops the partitions that end before `time`, and yields the number of events in each. They are
 * detached concurrently first, so that no query has to wait for others:
 * https://www.postgresql.org/docs/current/sql-altertable.html. Citus cannot do that.
 */
export async function* dropPartitions(
  client: PostgresPoolClient,
  { schema, events }: Names,
  time: Microseconds,
  isConcurrent: boolean,
): AsyncGenerator<number> {
  const mode = isConcurrent ? 'CONCURRENTLY' : ''
  for (const [name, bounds] of await ask(client, PARTITIONS, events)) {
    const to = /TO \('?(-?\d+)'?\)/.exec(bounds!)?.[1]
    if (to === undefined || Number(to) > time) continue
    const table = `${schema}.${quoteName(name!)}`
    await ask(client, `ALTER TABLE ${events} DETACH PARTITION ${table} ${mode}`)
    yield await dropDetached(client, table)
  }
}

async function dropDetached(client: PostgresPoolClient, table: string): Promise<number> {
  const [row] = await ask(client, `SELECT count(*) FROM ${table}`)
  await ask(client, `DROP TABLE ${table}`)
  return Number(row![0])
}

/** Drops the tables that a process which died was detaching or had detached; returns their events. */
export async function finishDetaching(
  client: PostgresPoolClient,
  { schema, events }: Names,
): Promise<number> {
  const pending = await ask(
    client,
    `SELECT child.relname FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
     WHERE inhparent = $1::regclass AND inhdetachpending`,
    events,
  )
  for (const [name] of pending)
    await ask(
      client,
      `ALTER TABLE ${events} DETACH PARTITION ${schema}.${quoteName(name!)} FINALIZE`,
    )
  const detached = await ask(
    client,
    `SELECT child.relname FROM pg_class AS child JOIN pg_class AS parent ON parent.oid = $1::regclass
     WHERE child.relnamespace = parent.relnamespace AND child.relkind = 'r' AND NOT child.relispartition
       AND child.relname ~ '^events_[0-9]{6}([0-9]{2})?$'`,
    events,
  )
  let dropped = 0
  for (const [name] of detached)
    dropped += await dropDetached(client, `${schema}.${quoteName(name!)}`)
  return dropped
}

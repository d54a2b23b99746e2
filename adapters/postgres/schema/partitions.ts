import { quoteName } from '../../../src/store-kit/sql.js'
import {
  DAY,
  formatTimestamp,
  type Microseconds,
  parseTimestamp,
} from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
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
  FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = $1::regclass AND NOT inhdetachpending`

/** Returns the periods without a partition, and the attached partitions, oldest first. */
export async function withoutPartitions(
  client: PostgresPoolClient,
  names: Names,
  periods: readonly Period[],
): Promise<{ readonly missing: readonly Period[]; readonly attached: readonly Period[] }> {
  const attached = await attachedPartitions(client, names)
  const known = new Set(attached.map(({ name }) => name))
  const missing = new Map(periods.map((period) => [period.name, period]))
  return { missing: [...missing.values()].filter(({ name }) => !known.has(name)), attached }
}

/** The period of a partition with this name. */
export function periodNamed(name: string): Period {
  const digits = name.slice('events_'.length)
  const date = digits.replace(/^(\d{4})(\d\d)(\d\d)?$/, (_, year, month, day) =>
    [year, month, day ?? '01'].join('-'),
  )
  return periodOf(startOf(date), digits.length > 6 ? 'day' : 'month')
}

/** The periods of these times that have no partition, and the attached partitions, oldest first. */
export async function missingPeriods(
  client: PostgresPoolClient,
  names: Names,
  partitions: Partitions,
  times: readonly Microseconds[],
): ReturnType<typeof withoutPartitions> {
  if (partitions === 'none') return { missing: [], attached: [] }
  const periods = times.map((time) => periodOf(time, partitions))
  return withoutPartitions(client, names, periods)
}

/** The attached partitions, oldest first. */
export async function attachedPartitions(
  client: PostgresPoolClient,
  { events }: Names,
): Promise<readonly Period[]> {
  const periods: Period[] = []
  for (const [name, bounds] of await ask(client, PARTITIONS, events)) {
    const [, from, to] = /FROM \('?(-?\d+)'?\) TO \('?(-?\d+)'?\)/.exec(bounds!) ?? []
    if (to !== undefined) periods.push({ name: name!, from: Number(from), to: Number(to) })
  }
  return periods.toSorted((a, b) => a.from - b.from)
}

/** SQL for the table of a partition. */
export const tableOf = ({ schema }: Names, name: string): string => `${schema}.${quoteName(name)}`

/**
 * `ATTACH PARTITION` blocks neither readers nor writers of other partitions:
 * https://www.postgresql.org/docs/current/ddl-partitioning.html
 */
export async function createPartition(
  client: PostgresPoolClient,
  names: Names,
  { name, from, to }: Period,
): Promise<void> {
  const { events } = names
  const table = tableOf(names, name)
  await ask(client, `CREATE TABLE ${table} (LIKE ${events} INCLUDING ALL)`)
  await ask(
    client,
    `ALTER TABLE ${events} ATTACH PARTITION ${table} FOR VALUES FROM (${from}) TO (${to})`,
  )
}

// Microseconds. Events of one append are a microsecond apart and end at the current time.
const MAX_APPEND_LENGTH = 10_000

/** Times in the periods that need a partition: the current one and the next two. */
export function periodsAhead(time: Microseconds, partitions: Partitions): Microseconds[] {
  if (partitions === 'none') return []
  const next = periodOf(time, partitions).to
  return [time - MAX_APPEND_LENGTH, time, next, periodOf(next, partitions).to]
}

import { quoteName } from '../../../src/store-kit/sql.js'
import { ask, askAlone, runInTransaction, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from './names.js'
import { createPartition, periodNamed, tableOf } from './partitions.js'
import { isInSnapshotSql, formatSnapshot, parseSnapshot, type RowSnapshot } from './row-snapshot.js'

/*
 * A partition whose events are removed at once is detached, then dropped. If the process dies in between, the table stays,
 * and the next process that removes events or makes partitions finishes the work. If its events were archived first, the comment
 * of the table says which ones: the others are put back.
 *
 * All of this needs the lock `removal`.
 */

const MARK = /^daybook: its events of (\S+) are archived$/

async function readMark(
  client: PostgresPoolClient,
  table: string,
): Promise<RowSnapshot | undefined> {
  const [row] = await ask(client, `SELECT obj_description($1::regclass, 'pg_class')`, table)
  const snapshot = MARK.exec(row![0] ?? '')?.[1]
  return snapshot === undefined ? undefined : parseSnapshot(snapshot)
}

export interface DetachOptions {
  /** If its events are in an archive: which ones. */
  readonly archived?: RowSnapshot
  /** Citus cannot do that. @default true */
  readonly isConcurrent?: boolean
}

/**
 * Detaches the partition, concurrently so that no query has to wait for others:
 * https://www.postgresql.org/docs/current/sql-altertable.html
 */
export async function detachPartition(
  client: PostgresPoolClient,
  names: Names,
  name: string,
  { archived, isConcurrent = true }: DetachOptions = {},
): Promise<void> {
  const table = tableOf(names, name)
  // An earlier run may have left a comment. On Citus there are none.
  if (isConcurrent) {
    const mark = archived && `'daybook: its events of ${formatSnapshot(archived)} are archived'`
    await ask(client, `COMMENT ON TABLE ${table} IS ${mark ?? 'NULL'}`)
  }
  const detach = `ALTER TABLE ${names.events} DETACH PARTITION ${table}`
  if (isConcurrent) await askAlone(client, `${detach} CONCURRENTLY`)
  else await ask(client, detach)
}

/**
 * Drops a detached partition, within a transaction, and puts the events back that are not archived if others are. Returns the number
 * of events that are gone.
 */
export async function dropDetached(
  client: PostgresPoolClient,
  names: Names,
  name: string,
  cluster: string,
): Promise<number> {
  const table = tableOf(names, name)
  const snapshot = await readMark(client, table)
  // Transactions of another cluster have other ids.
  const kept = snapshot?.cluster === cluster ? `NOT (${isInSnapshotSql(snapshot)})` : 'true'
  const condition = snapshot ? kept : 'false'
  const [row] = await ask(
    client,
    `SELECT count(*), count(*) FILTER (WHERE ${condition}) FROM ${table}`,
  )
  const [all, left] = row!.map(Number)
  if (left! > 0) {
    const old = `${name}_detached`
    await ask(client, `ALTER TABLE ${table} RENAME TO ${quoteName(old)}`)
    await createPartition(client, names, periodNamed(name))
    await ask(
      client,
      `INSERT INTO ${names.events} SELECT * FROM ${tableOf(names, old)} WHERE ${condition}`,
    )
    await ask(client, `DROP TABLE ${tableOf(names, old)}`)
  } else await ask(client, `DROP TABLE ${table}`)
  return all! - left!
}

const DETACHED = `SELECT child.relname FROM pg_catalog.pg_class AS child
  JOIN pg_catalog.pg_class AS parent ON parent.oid = $1::regclass
  WHERE child.relnamespace = parent.relnamespace AND child.relkind = 'r' AND NOT child.relispartition
    AND child.relname ~ '^events_[0-9]{6}([0-9]{2})?$'`

const PENDING = `SELECT child.relname FROM pg_catalog.pg_inherits JOIN pg_catalog.pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = $1::regclass AND inhdetachpending`

/** Completes what processes that died were detaching, or only these. May run within a transaction. */
export async function finishPending(
  client: PostgresPoolClient,
  names: Names,
  only?: ReadonlySet<string>,
): Promise<void> {
  const { events } = names
  for (const [name] of await ask(client, PENDING, events)) {
    if (only && !only.has(name!)) continue
    const table = tableOf(names, name!)
    await ask(client, `ALTER TABLE ${events} DETACH PARTITION ${table} FINALIZE`)
  }
}

/** The names of the detached tables. */
export const detachedTables = async (
  client: PostgresPoolClient,
  { events }: Names,
): Promise<readonly string[]> => (await ask(client, DETACHED, events)).map(([name]) => name!)

/** Drops the tables that a process which died was detaching or had detached; returns the number of events that are gone. */
export async function finishDetaching(
  client: PostgresPoolClient,
  names: Names,
  cluster: string,
): Promise<number> {
  await finishPending(client, names)
  let dropped = 0
  for (const name of await detachedTables(client, names))
    dropped += await runInTransaction(client, () => dropDetached(client, names, name, cluster))
  return dropped
}

import { newestSql } from '../schema/high-water.js'
import { type ConsistencyToken, formatToken } from '../../../src/store/consistency-token.js'
import type { Microseconds } from '../../../src/event/timestamp.js'
import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { PostgresLog } from './log.js'

/** SQL of the WAL position up to which the log is on disk. Every acknowledged commit is before it. */
const END_OF_WAL = 'pg_current_wal_flush_lsn()'

/** Returns a consistency token of the primary's present state. */
export async function primaryToken(
  client: PostgresPoolClient,
  log: PostgresLog,
): Promise<ConsistencyToken> {
  const cluster = log.cluster(client)
  const [row] = await ask(client, `SELECT ${newestSql(log.names)}`)
  const time = Number(row![0])
  await log.durability.confirm(client, time)
  if (cluster === '') return { time, wal: undefined }
  const [end] = await ask(client, `SELECT ${END_OF_WAL}`)
  return { time, wal: { cluster, position: end![0]! } }
}

/**
 * SQL of a consistency token of the primary's present state, with the time up to which events are known to be durable. The token
 * has no WAL position if the server does not report one.
 */
function writtenSql(cluster: string, durable: Microseconds): string {
  const prefix = formatToken({ time: durable, wal: undefined })
  if (cluster === '') return `'${prefix}'`
  return `concat_ws('_', '${prefix}', '${cluster}', ${END_OF_WAL})`
}

/** The token of `writtenSql`, on a connection that `log.use` has not checked. */
export async function writtenToken(client: PostgresPoolClient, log: PostgresLog): Promise<string> {
  await log.checkTimeline(client)
  const [row] = await ask(
    client,
    `SELECT ${writtenSql(log.cluster(client), log.durability.known())}`,
  )
  return row![0]!
}

/** Notifies the listeners of the log, with the token of `writtenSql`. */
export async function notifyWritten(
  client: PostgresPoolClient,
  log: PostgresLog,
  settings: string,
): Promise<void> {
  const token = writtenSql(log.cluster(client), log.durability.known())
  await ask(client, `SELECT pg_notify($1, ${token}), ${settings}`, log.names.channel)
}

import { ask, type PostgresPoolClient } from '../connection/client.js'
import type { Names } from './names.js'

/**
 * SQL that identifies the server and the tables that a connection leads to. What was read from others
 * may be wrong there: after a failover the new primary may lack the latest changes, and transaction
 * ids, versions and ids of a restored log start again. The value changes with each start of the
 * server; a server that has not restarted has lost nothing.
 */
export const serverSql = ({ server }: Names): string => `${server}()`

/** SQL of the server's clock, in microseconds. */
export const SERVER_TIME = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

/** SQL of the current time: the parameter, or the server's clock if it is NULL. */
export const timeSql = (parameter: string): string =>
  `coalesce(${parameter}::bigint, ${SERVER_TIME})`

export async function readServer(client: PostgresPoolClient, names: Names): Promise<string> {
  const [row] = await ask(client, `SELECT ${serverSql(names)}`)
  return row![0]!
}

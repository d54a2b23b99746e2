import { ask, type PostgresPoolClient } from '../connection/client.js'
import { type Names, quoteText } from './names.js'

/**
 * SQL for the server and the tables that a connection leads to. What was read from others may be wrong
 * there: after a failover the new primary may lack the latest changes, and transaction ids, versions
 * and ids of a restored log start again. It changes with each start of a server, as nothing is lost
 * without one.
 */
export const serverSql = ({ indexState }: Names): string =>
  `concat(extract(epoch FROM pg_postmaster_start_time()), ' ',
    pg_relation_filepath(to_regclass(${quoteText(indexState)})))`

export async function readServer(client: PostgresPoolClient, names: Names): Promise<string> {
  const [row] = await ask(client, `SELECT ${serverSql(names)}`)
  return row![0]!
}

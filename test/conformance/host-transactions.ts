import Database from 'better-sqlite3'
import pg from 'pg'

/* Transactions of the host, each on another connection. */

export interface HostTransaction<Handle extends object = object> {
  readonly handle: Handle
  readonly commit: () => Promise<void>
  readonly rollback: () => Promise<void>
}

export async function beginOnPostgres(
  connectionString: string,
): Promise<HostTransaction<pg.Client>> {
  const handle = new pg.Client({ connectionString })
  handle.on('error', () => {})
  await handle.connect()
  await handle.query('BEGIN')
  const end = async (command: string) => {
    await handle.query(command)
    await handle.end()
  }
  return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
}

/** Makes writes to the log in this schema wait until the result is called. */
export async function lockOnPostgres(
  connectionString: string,
  schema: string,
): Promise<() => Promise<void>> {
  const { handle, rollback } = await beginOnPostgres(connectionString)
  await handle.query(`LOCK TABLE "${schema}".events IN SHARE ROW EXCLUSIVE MODE`)
  return rollback
}

/** An immediate transaction has the only lock for writing of the file. */
export function beginOnSqlite(
  filename: string,
  kind: 'DEFERRED' | 'IMMEDIATE' = 'DEFERRED',
): HostTransaction {
  const handle = new Database(filename)
  handle.exec(`BEGIN ${kind}`)
  const end = async (command: string) => {
    handle.exec(command)
    handle.close()
  }
  return { handle, commit: () => end('COMMIT'), rollback: () => end('ROLLBACK') }
}

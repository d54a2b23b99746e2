import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { throwIfAborted } from '../../src/errors.js'
import type { Connection } from './connection/connection.js'
import type { SqliteDatabase } from './connection/database.js'
import type { SqliteDriverName } from './connection/driver.js'
import { startThread, threadFile } from './connection/thread.js'

/** Returns the faults that SQLite finds in a table; see https://www.sqlite.org/pragma.html#pragma_integrity_check */
export type CheckTable = (table: string) => Promise<readonly string[]>

/** Data that the thread receives. */
export interface CheckingOptions {
  readonly filename: string
  readonly driver: SqliteDriverName
}

const MAX_FOUND = 100

/** SQLite's own check of one table and its indexes; it reads all of their pages. */
export function integrityOf(database: SqliteDatabase, table: string): readonly string[] {
  try {
    const rows = database.prepare(`PRAGMA integrity_check('${table}')`).raw(true).all()
    const lines = (rows as [string][]).map(([line]) => line)
    return lines.filter((line) => line !== 'ok').slice(0, MAX_FOUND)
  } catch (error) {
    return [(error as Error).message]
  }
}

/** Runs the check in a thread, because it blocks; in this thread if none can be started. */
export async function withFileCheck<Result>(
  { database, driver }: Pick<Connection, 'database' | 'driver'>,
  use: (check: CheckTable) => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  let worker: Worker | undefined
  const check: CheckTable = async (table) => {
    throwIfAborted(signal)
    if (!worker) return integrityOf(database, table)
    worker.postMessage(table, [])
    try {
      const [lines] = await once(worker, 'message', signal ? { signal } : {})
      return lines as readonly string[]
    } catch (error) {
      throwIfAborted(signal)
      return [(error as Error).message]
    }
  }
  try {
    // Throws in a bundle in CommonJS, which has no `import.meta.url`.
    const file = threadFile(import.meta.url, 'checking-thread')
    const options: CheckingOptions = { filename: database.name, driver: driver.name }
    worker = (await startThread(file, options)).worker
  } catch {
    // The check then blocks this thread.
  }
  try {
    return await use(check)
  } finally {
    await worker?.terminate()
  }
}

import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Kind, Kinds } from '../model.js'
import { DatabaseBusy, type Documents, type Transaction } from './documents.js'
import { createMaps, type DocumentMaps } from './maps.js'
import { retryWhileBusy } from './retry.js'

/** Documents of one process, in a file, or in memory without a file name. */
export function sqliteDocuments(filename: string | undefined, timeoutMs = 5000): Documents {
  const database = new Database(filename ?? ':memory:')
  database.pragma('journal_mode = WAL')
  // Retries are done in JavaScript: SQLite's own wait would block the event loop.
  database.pragma('busy_timeout = 0')
  database.exec(
    'CREATE TABLE IF NOT EXISTS documents (kind TEXT, id TEXT, body TEXT, PRIMARY KEY (kind, id))',
  )
  const upsert = database.prepare(
    `INSERT INTO documents VALUES (?, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`,
  )
  const deleteOne = database.prepare('DELETE FROM documents WHERE kind = ? AND id = ?')
  const maps = createMaps()
  load(database, maps)
  const processId = randomUUID()

  const attempt = <Result>(act: (tx: Transaction) => Result): Result => {
    const applied: (() => void)[] = []
    const transaction = database.transaction(() =>
      act({
        put: (kind, document) => {
          upsert.run(kind, document.id, JSON.stringify(document))
          applied.push(() => maps.put(kind, document))
        },
        remove: (kind, id) => {
          deleteOne.run(kind, id)
          applied.push(() => maps.remove(kind, id))
        },
      }),
    )
    const result = transaction.immediate()
    for (const apply of applied) apply()
    return result
  }

  return {
    processId,
    all: maps.all,
    get: maps.get,
    // No other process writes to the file.
    refresh: () => Promise.resolve(),
    watch: () => {},
    ended: (processIds) => Promise.resolve(new Set(processIds.filter((id) => id !== processId))),
    write: (act, retry) =>
      retryWhileBusy(() => mapBusyErrors(() => attempt(act)), { timeoutMs, ...retry }),
    lock: filename === undefined ? undefined : (ms, signal) => lockFile(filename, ms, signal),
    close: () => {
      database.close()
      return Promise.resolve()
    },
  }
}

/** Throws `DatabaseBusy` for SQLITE_BUSY. */
function mapBusyErrors<Result>(attempt: () => Result): Result {
  try {
    return attempt()
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY'))
      throw new DatabaseBusy(error.message, { cause: error })
    throw error
  }
}

interface Row {
  readonly kind: Kind
  readonly id: string
  readonly body: string
}

function load(database: Database.Database, maps: DocumentMaps): void {
  const rows = database.prepare<[], Row>('SELECT kind, id, body FROM documents ORDER BY rowid')
  for (const { kind, body } of rows.iterate()) maps.put(kind, JSON.parse(body) as Kinds[Kind])
}

async function lockFile(filename: string, ms: number, signal: AbortSignal): Promise<void> {
  const database = new Database(filename)
  database.prepare('BEGIN IMMEDIATE').run()
  void delay(ms, undefined, { signal })
    .catch(() => undefined)
    .finally(() => database.close())
}

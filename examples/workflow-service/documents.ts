import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Kind, Kinds } from './model.js'

export interface Transaction {
  put<K extends Kind>(kind: K, document: Kinds[K]): void
  remove(kind: Kind, id: string): void
}

export interface Patience {
  /** How long to try while another connection holds the write lock. @default 5000 */
  readonly patienceMs?: number
  /** Called once, at the first lock that is met. */
  readonly onBusy?: (error: unknown) => Promise<void>
}

/** The service's own data: read from memory, written through to SQLite. */
export interface Documents {
  /** Undefined where the database is in memory. */
  readonly filename: string | undefined
  all<K extends Kind>(kind: K): readonly Kinds[K][]
  get<K extends Kind>(kind: K, id: string): Kinds[K] | undefined
  /**
   * Runs `act` in one transaction: what it puts is kept as a whole, or not at all where it throws.
   * It sees the data as it was before, and no other write comes between.
   */
  write<Result>(act: (tx: Transaction) => Result, patience?: Patience): Promise<Result>
  close(): void
}

const RETRY_MS = 50

export function isBusy(error: unknown): boolean {
  return error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')
}

export function openDocuments(filename: string | undefined): Documents {
  const database = new Database(filename ?? ':memory:')
  database.pragma('journal_mode = WAL')
  // Waiting is done in JavaScript: SQLite's own would hold the event loop.
  database.pragma('busy_timeout = 0')
  database.exec(
    'CREATE TABLE IF NOT EXISTS documents (kind TEXT, id TEXT, body TEXT, PRIMARY KEY (kind, id))',
  )
  const upsert = database.prepare(
    `INSERT INTO documents VALUES (?, ?, ?)
      ON CONFLICT (kind, id) DO UPDATE SET body = excluded.body`,
  )
  const deleteOne = database.prepare('DELETE FROM documents WHERE kind = ? AND id = ?')
  const maps = loadMaps(database)

  const attempt = <Result>(act: (tx: Transaction) => Result): Result => {
    const applied: (() => void)[] = []
    const transaction = database.transaction(() =>
      act({
        put: (kind, document) => {
          upsert.run(kind, document.id, JSON.stringify(document))
          applied.push(() => mapOf(maps, kind).set(document.id, document))
        },
        remove: (kind, id) => {
          deleteOne.run(kind, id)
          applied.push(() => mapOf(maps, kind).delete(id))
        },
      }),
    )
    const result = transaction.immediate()
    for (const apply of applied) apply()
    return result
  }

  return {
    filename,
    all: (kind) => [...mapOf(maps, kind).values()],
    get: (kind, id) => mapOf(maps, kind).get(id),
    close: () => database.close(),
    write: async (act, { patienceMs = 5000, onBusy } = {}) => {
      const deadline = performance.now() + patienceMs
      let notified = false
      for (;;) {
        try {
          return attempt(act)
        } catch (error) {
          if (!isBusy(error)) throw error
          if (!notified) await onBusy?.(error)
          notified = true
          if (performance.now() > deadline) throw error
        }
        await delay(RETRY_MS)
      }
    },
  }
}

type Maps = Map<Kind, Map<string, Kinds[Kind]>>

function mapOf<K extends Kind>(maps: Maps, kind: K): Map<string, Kinds[K]> {
  let map = maps.get(kind)
  if (!map) maps.set(kind, (map = new Map()))
  return map as Map<string, Kinds[K]>
}

interface Row {
  readonly kind: Kind
  readonly id: string
  readonly body: string
}

function loadMaps(database: Database.Database): Maps {
  const maps: Maps = new Map()
  const rows = database.prepare<[], Row>('SELECT kind, id, body FROM documents ORDER BY rowid')
  for (const { kind, id, body } of rows.iterate())
    mapOf(maps, kind).set(id, JSON.parse(body) as Kinds[Kind])
  return maps
}

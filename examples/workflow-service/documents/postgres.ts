import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Kind, Kinds } from '../model.js'
import { DatabaseBusy, type Documents, type Transaction } from './documents.js'
import { createMaps } from './maps.js'
import { announceProcess } from './presence.js'
import { openPool } from './pool.js'
import { retryWhileBusy } from './retry.js'

/*
 * Documents of several processes. A lock serializes the transactions that write. Each transaction gives
 * its documents the next version, so a process that has loaded version n reads on from there.
 */

const TABLE = `CREATE TABLE workflow_service.documents (
  kind text,
  id text,
  -- Null when removed, so that the other processes see the removal.
  body text,
  version bigint NOT NULL,
  writer text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (kind, id)
)`

// READ COMMITTED: a snapshot from before the lock would miss the last transaction.
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '250ms'`
const LOCK = `SELECT pg_advisory_xact_lock(hashtextextended('workflow_service:write', 0))`

const CHANGED = `SELECT kind, id, body, version, writer FROM workflow_service.documents
  WHERE version > $1 ORDER BY position`

const UPSERT = `INSERT INTO workflow_service.documents (kind, id, body, version, writer)
  SELECT kind, id, body, $4, $5
    FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (kind, id, body, position)
    ORDER BY position
  ON CONFLICT (kind, id) DO UPDATE
    SET body = excluded.body, version = excluded.version, writer = excluded.writer`

const REFRESH_TIMEOUT_MS = 1000

interface Row {
  readonly kind: Kind
  readonly id: string
  readonly body: string | null
  readonly version: string
  readonly writer: string
}

interface Put {
  readonly kind: Kind
  readonly id: string
  readonly document: Kinds[Kind] | undefined
}

export async function postgresDocuments(connectionString: string): Promise<Documents> {
  const pool = await openPool(connectionString)
  await createTable(pool)
  const presence = await announceProcess(pool, connectionString)
  const { processId } = presence
  const maps = createMaps()
  const listeners: ((kind: Kind, id: string) => void)[] = []
  /** The maps hold all documents up to this version. */
  let loaded = 0

  const apply = (version: number, puts: readonly Put[]): void => {
    for (const { kind, id, document } of puts)
      if (document) maps.put(kind, document)
      else maps.remove(kind, id)
    loaded = Math.max(loaded, version)
  }

  const load = async (client: pg.Pool | pg.PoolClient): Promise<void> => {
    const { rows } = await retryable(client.query<Row>(CHANGED, [loaded]))
    // A concurrent call may have loaded the same documents, and more.
    const changed = rows.filter(({ version }) => Number(version) > loaded)
    const puts = changed.map(({ kind, id, body }) => {
      const document = body === null ? undefined : (JSON.parse(body) as Kinds[Kind])
      return { kind, id, document }
    })
    apply(
      changed.reduce((max, { version }) => Math.max(max, Number(version)), 0),
      puts,
    )
    for (const { kind, id, writer } of changed)
      if (writer !== processId) for (const listener of listeners) listener(kind, id)
  }

  const attempt = async <Result>(act: (tx: Transaction) => Result): Promise<Result> => {
    const client = await retryable(pool.connect())
    let isSound = false
    try {
      await retryable(client.query(`${BEGIN}; ${LOCK}`))
      await load(client)
      const { puts, outcome } = collectPuts(act)
      if (puts.length === 0) {
        await retryable(client.query('ROLLBACK'))
      } else {
        const version = loaded + 1
        await retryable(client.query(UPSERT, [...columnsOf(puts), version, processId]))
        // Not retried: after a failure it is unknown whether the COMMIT took effect.
        await client.query('COMMIT')
        if (version > loaded) apply(version, puts)
      }
      isSound = true
      return outcome()
    } finally {
      client.release(!isSound)
    }
  }

  const inOrder = createWriteQueue()
  await load(pool)
  return {
    processId,
    all: maps.all,
    get: maps.get,
    refresh: () => retryWhileBusy(() => load(pool), { timeoutMs: REFRESH_TIMEOUT_MS }),
    write: (act, retry) => retryWhileBusy(() => inOrder(() => attempt(act)), retry),
    watch: (listener) => listeners.push(listener),
    ended: (processIds) => presence.ended(processIds),
    lock: (ms, signal) => lock(pool, ms, signal),
    close: async () => {
      await presence.close()
      await pool.end()
    },
  }
}

/** Creates the table if it is missing. The lock serializes processes that start at the same time. */
async function createTable(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  let isSound = false
  try {
    await client.query(`BEGIN; ${LOCK}`)
    const found = await client.query(
      `SELECT 1 WHERE to_regclass('workflow_service.documents') IS NULL`,
    )
    if (found.rows.length > 0) {
      await client.query('CREATE SCHEMA IF NOT EXISTS workflow_service')
      await client.query(TABLE)
      await client.query('CREATE INDEX ON workflow_service.documents (version)')
    }
    await client.query('COMMIT')
    isSound = true
  } finally {
    client.release(!isSound)
  }
}

/** Returns what `act` puts, each document once, and its result. `outcome` rethrows its error. */
function collectPuts<Result>(act: (tx: Transaction) => Result): {
  puts: readonly Put[]
  outcome: () => Result
} {
  const puts = new Map<string, Put>()
  const add = (kind: Kind, id: string, document?: Kinds[Kind]): void => {
    puts.set(`${kind}/${id}`, { kind, id, document })
  }
  try {
    const result = act({
      put: (kind, document) => add(kind, document.id, document),
      remove: (kind, id) => add(kind, id),
    })
    return { puts: [...puts.values()], outcome: () => result }
  } catch (error) {
    const outcome = (): never => {
      throw error
    }
    return { puts: [], outcome }
  }
}

const columnsOf = (puts: readonly Put[]): unknown[] => [
  puts.map(({ kind }) => kind),
  puts.map(({ id }) => id),
  puts.map(({ document }) => (document ? JSON.stringify(document) : null)),
]

/** Serializes the writes of this process, so that waiting ones do not take a connection. */
function createWriteQueue(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const turn = last.then(task)
    last = turn.catch(() => undefined)
    return turn
  }
}

/**
 * Errors that pass: broken connections, servers that shut down or refuse writes, and locks that are not
 * granted. See https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
const TRANSIENT = /^(08|53|57P|25006|40001|40P01|55P03)/

/** Throws `DatabaseBusy` for transient errors. For statements before a COMMIT, which can be retried. */
async function retryable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof pg.DatabaseError && !TRANSIENT.test(cause.code ?? '')) throw cause
    const isLocked = cause instanceof pg.DatabaseError && cause.code === '55P03'
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new DatabaseBusy(isLocked ? 'the database is locked' : reason, { cause })
  }
}

async function lock(pool: pg.Pool, ms: number, signal: AbortSignal): Promise<void> {
  const client = await pool.connect()
  const release = (): void => client.release(true)
  await client.query(`BEGIN; ${LOCK}`).catch((error: unknown) => {
    release()
    throw error
  })
  void delay(ms, undefined, { signal })
    .catch(() => undefined)
    .finally(release)
}

import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Kind, Kinds } from '../model.js'
import { DatabaseBusy, type Documents, type Transaction } from './documents.js'
import { createMaps } from './maps.js'
import { patiently } from './patiently.js'
import { announceProcess } from './presence.js'
import { openPool } from './pool.js'

/*
 * Documents of several processes. Those who write take turns by a lock, and give all that one
 * transaction puts the next version: whoever has seen version n finds the rest above it.
 */

const TABLE = `CREATE TABLE workflow_service.documents (
  kind text,
  id text,
  -- Null once it is removed, so that the other processes learn of it.
  body text,
  version bigint NOT NULL,
  writer text NOT NULL,
  position bigint GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (kind, id)
)`

// Snapshots from before the lock would miss what the last writer did.
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

const REFRESH_PATIENCE_MS = 1000

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
  /** What has this version or a lower one is in the maps. */
  let seen = 0

  const apply = (version: number, puts: readonly Put[]): void => {
    for (const { kind, id, document } of puts)
      if (document) maps.put(kind, document)
      else maps.remove(kind, id)
    seen = Math.max(seen, version)
  }

  const load = async (client: pg.Pool | pg.PoolClient): Promise<void> => {
    const { rows } = await harmless(client.query<Row>(CHANGED, [seen]))
    // Others may have loaded the same meanwhile, and more.
    const news = rows.filter(({ version }) => Number(version) > seen)
    const puts = news.map(({ kind, id, body }) => {
      const document = body === null ? undefined : (JSON.parse(body) as Kinds[Kind])
      return { kind, id, document }
    })
    apply(
      news.reduce((most, { version }) => Math.max(most, Number(version)), 0),
      puts,
    )
    for (const { kind, id, writer } of news)
      if (writer !== processId) for (const listener of listeners) listener(kind, id)
  }

  const attempt = async <Result>(act: (tx: Transaction) => Result): Promise<Result> => {
    const client = await harmless(pool.connect())
    let isSound = false
    try {
      await harmless(client.query(`${BEGIN}; ${LOCK}`))
      await load(client)
      const { puts, outcome } = gather(act)
      if (puts.length === 0) {
        await harmless(client.query('ROLLBACK'))
      } else {
        const version = seen + 1
        await harmless(client.query(UPSERT, [...columnsOf(puts), version, processId]))
        // Where this fails nobody knows whether it was done: it is not tried again.
        await client.query('COMMIT')
        if (version > seen) apply(version, puts)
      }
      isSound = true
      return outcome()
    } finally {
      client.release(!isSound)
    }
  }

  const inTurn = takingTurns()
  await load(pool)
  return {
    processId,
    all: maps.all,
    get: maps.get,
    refresh: () => patiently(() => load(pool), { patienceMs: REFRESH_PATIENCE_MS }),
    write: (act, patience) => patiently(() => inTurn(() => attempt(act)), patience),
    watch: (listener) => listeners.push(listener),
    ended: (processIds) => presence.ended(processIds),
    lock: (ms, signal) => lock(pool, ms, signal),
    close: async () => {
      await presence.close()
      await pool.end()
    },
  }
}

/** Processes that start together make the table once. */
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

/** What `act` puts, each document once, and what it gives or throws. */
function gather<Result>(act: (tx: Transaction) => Result): {
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

/** Within one process the next write waits for the last without a connection of its own. */
function takingTurns(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve()
  return (task) => {
    const turn = last.then(task)
    last = turn.catch(() => undefined)
    return turn
  }
}

// https://www.postgresql.org/docs/current/errcodes-appendix.html: connections that break, servers
// that shut down or refuse writes, locks that are not given.
const PASSING = /^(08|53|57P|25006|40001|40P01|55P03)/

/** Awaits what has no effect before a COMMIT, so that it can be tried again where it failed. */
async function harmless<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    if (cause instanceof pg.DatabaseError && !PASSING.test(cause.code ?? '')) throw cause
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

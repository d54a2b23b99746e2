import { createRequire } from 'node:module'
import { AuditLogError } from '../../../src/errors.js'

/*
 * The part of pg (8.11 or newer) that is used here, by shape: its types are not needed to compile
 * against Daybook, nor is the package where another store is used.
 */

/** A `Pool` or a `Client`. */
export interface PostgresClient {
  query(text: string, params: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/** What a pool hands out. */
export interface PostgresPoolClient extends PostgresClient {
  /** The server's process behind the connection. */
  readonly processID?: number | null | undefined
  query(config: QueryConfig): Promise<{ readonly rows: unknown[] }>
  query(text: string, params?: unknown[]): Promise<{ readonly rows: unknown[] }>
  /** Given true, the connection is closed instead of kept. */
  release(destroy?: boolean): void
  on(event: 'error' | 'end' | 'notification', listener: () => void): unknown
  removeListener(event: 'error' | 'end' | 'notification', listener: () => void): unknown
}

/** A `Pool`. */
export interface PostgresPool {
  connect(
    callback: (error: Error | undefined, client: PostgresPoolClient | undefined) => void,
  ): void
}

const ignore = (): void => {}

/**
 * A connection of the pool's, whose breaking does not end the process: without a listener it would.
 * The server may say goodbye in the same packet as welcome, so that a promise would be too late.
 */
export const checkOut = (pool: PostgresPool): Promise<PostgresPoolClient> =>
  new Promise((resolve, reject) => {
    pool.connect((error, client) => {
      if (!client) return reject(error ?? new Error('the pool gave no connection'))
      client.on('error', ignore)
      return resolve(client)
    })
  })

/** Gives it back to be used again, or to be closed. */
export function giveBack(client: PostgresPoolClient, isSound: boolean): void {
  // What is left of a broken connection may still complain.
  if (isSound) client.removeListener('error', ignore)
  client.release(!isSound)
}

interface QueryConfig {
  readonly text: string
  readonly values: unknown[]
  readonly rowMode: 'array'
  readonly types: { getTypeParser(): (value: string) => unknown }
}

/** A pool of our own. */
export interface OwnPool extends PostgresPool {
  on(event: 'error', listener: () => void): unknown
  on(event: 'connect', listener: (client: PostgresPoolClient) => void): unknown
  end(): Promise<void>
}

interface Driver {
  readonly Pool: new (options: object) => OwnPool
}

function loadDriver(): Driver {
  try {
    return createRequire(import.meta.url)('pg') as Driver
  } catch (cause) {
    throw new AuditLogError(
      'MISSING_DEPENDENCY',
      'the Postgres store needs the package pg: npm install pg',
      { cause },
    )
  }
}

const CONNECT_TIMEOUT_MS = 5000

export function openPool(connectionString: string): OwnPool {
  const { Pool } = loadDriver()
  const pool = new Pool({
    connectionString,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    fallback_application_name: 'daybook',
  })
  // A connection that breaks while it is idle is replaced; without a listener it ends the process.
  pool.on('error', () => {})
  // So does one that is told goodbye while it is being closed, of which the pool knows no more.
  pool.on('connect', (client) => void client.on('error', () => {}))
  return pool
}

/** A row as Postgres prints its columns, whatever type parsers the host has set. */
export type TextRow = readonly (string | null)[]

const AS_TEXT = { getTypeParser: () => (value: string) => value }

export async function ask(
  client: PostgresPoolClient,
  text: string,
  ...values: unknown[]
): Promise<TextRow[]> {
  const { rows } = await client.query({ text, values, rowMode: 'array', types: AS_TEXT })
  return rows as TextRow[]
}

/** Several statements at a time, without values; gives the rows of each. */
export async function askAll(client: PostgresPoolClient, text: string): Promise<TextRow[][]> {
  const results = await client.query({ text, values: [], rowMode: 'array', types: AS_TEXT })
  return [results].flat().map(({ rows }) => rows as TextRow[])
}

/** The same; gives the rows of the last. */
export const askLast = async (client: PostgresPoolClient, text: string): Promise<TextRow[]> =>
  (await askAll(client, text)).at(-1)!

/** SQL that has the transaction be on disk when it is committed, whatever the server's default. */
export const DURABLE = `CASE current_setting('synchronous_commit')
  WHEN 'off' THEN set_config('synchronous_commit', 'on', true) END`

/** What `act` does is one transaction, in which each statement sees what is committed by then. */
export async function inTransaction<Result>(
  client: PostgresPoolClient,
  act: () => Promise<Result>,
): Promise<Result> {
  await askLast(client, `BEGIN ISOLATION LEVEL READ COMMITTED; SELECT ${DURABLE}`)
  try {
    const result = await act()
    await ask(client, 'COMMIT')
    return result
  } catch (error) {
    await ask(client, 'ROLLBACK').catch(ignore)
    throw error
  }
}

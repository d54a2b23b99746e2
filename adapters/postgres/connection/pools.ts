import { brokenPackage, loadPackage } from '../../../src/store/packages.js'
import { requireNode } from '../../../src/store/node-version.js'
import type { PostgresPool, PostgresPoolClient } from './client.js'

/** A pool of pg. */
export interface OwnPool extends PostgresPool {
  on(event: 'error' | 'remove', listener: () => void): unknown
  /** `error` is what `release` got. */
  on(event: 'release', listener: (error: unknown) => void): unknown
  on(event: 'connect', listener: (client: PostgresPoolClient & { unref(): void }) => void): unknown
  end(): Promise<void>
}

/** A `Client` of pg that belongs to no pool. */
export interface OwnClient extends PostgresPoolClient {
  connect(): Promise<void>
}

interface Driver {
  readonly Pool: new (options: object) => OwnPool
  readonly Client: new (options: object) => OwnClient
}

/** Loads pg; throws `MISSING_DEPENDENCY` if that fails. */
export function loadDriver(): Driver {
  requireNode()
  const driver = loadPackage({ name: 'pg', neededBy: 'the Postgres store' }) as Partial<Driver>
  if (typeof driver.Pool !== 'function') throw brokenPackage('pg', 'it has no Pool')
  return driver as Driver
}

/** Options of pg for each connection. */
export const CONNECTING = {
  connectionTimeoutMillis: 5000,
  keepAlive: true,
  // Sends the commit that confirms an append together with it.
  pipeline: true,
  fallback_application_name: 'daybook',
} as const

/**
 * Listens for the errors of a pool and of its connections: without a listener they would end the process. Returns a
 * function that ends the pool.
 */
export function watchPool(pool: OwnPool): () => Promise<void> {
  const open = new Set<{ unref(): void }>()
  // The pool replaces a connection that breaks while idle.
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    // A connection may also break while it is being closed, which the pool no longer watches.
    client.on('error', () => {})
    open.add(client)
    client.on('end', () => open.delete(client))
  })
  return async () => {
    await pool.end()
    // A server that does not answer does not end its connections, which must not keep the process running.
    for (const client of open) client.unref()
  }
}

/** A pool that the store ends. */
export interface EndedPool extends PostgresPool {
  readonly end: () => Promise<void>
}

/** `onLoss` is called whenever a connection has ended. */
export function openPool(
  connectionString: string,
  max?: number,
  onLoss: () => void = () => {},
): EndedPool {
  const { Pool } = loadDriver()
  const pool = new Pool({ connectionString, ...CONNECTING, max })
  const end = watchPool(pool)
  pool.on('remove', onLoss)
  // `remove` follows only when the connection has been closed.
  pool.on('release', (error) => {
    if (error) onLoss()
  })
  return { connect: (callback) => pool.connect(callback), end }
}

import { AuditLogError } from '../../../src/errors.js'
import type { Clock } from '../../../src/event/timestamp.js'
import { openPool, type PostgresPool } from '../connection/client.js'
import type { Partitions } from '../schema/names.js'

interface CommonOptions {
  /**
   * The database schema that holds the log's tables; made where there is none. Each schema is a log
   * of its own.
   * @default 'daybook'
   */
  readonly schema?: string
  /**
   * A pool of connections to a replica, for reading. The replica answers what it has caught up with;
   * where it has not yet what this process has recorded, the primary does.
   */
  readonly readPool?: PostgresPool
  /**
   * By what stretch of time (UTC) a new log's table is parted; a whole one is dropped at once when
   * its events are removed. A log that exists keeps the form it was made in.
   * @default 'month'
   */
  readonly partitions?: Partitions
  /**
   * How long one query may take, in milliseconds; then it is stopped with `QUERY_TIMEOUT`.
   * @default 10000
   */
  readonly queryTimeoutMs?: number
  /** The present time in microseconds, for tests. @default the database server's clock */
  readonly clock?: Clock
}

export type PostgresStoreOptions = CommonOptions &
  (
    | {
        /** `postgres://user:password@host:port/database`; the store opens a pool of its own. */
        readonly connectionString: string
      }
    | {
        /** The host's pool of pg, which stays the host's to end. */
        readonly pool: PostgresPool
      }
  )

/** About as long as a timer can be. */
export const LONG_MS = 2_147_483_647

type ResolvedOptions = Required<Pick<CommonOptions, 'partitions' | 'queryTimeoutMs'>> & {
  readonly pool: PostgresPool
  readonly end: () => Promise<void>
}

/** Throws `MISSING_DEPENDENCY` or `INVALID_OPTION`. */
export function readOptions(options: PostgresStoreOptions): ResolvedOptions {
  const { partitions = 'month', queryTimeoutMs = 10_000 } = options
  if (!['month', 'day', 'none'].includes(partitions))
    throw new AuditLogError(
      'INVALID_OPTION',
      `partitions must be month, day or none; it is ${partitions}`,
    )
  if (!Number.isInteger(queryTimeoutMs) || queryTimeoutMs < 1 || queryTimeoutMs > LONG_MS)
    throw new AuditLogError(
      'INVALID_OPTION',
      `queryTimeoutMs must be a whole number from 1 to ${LONG_MS}; it is ${String(queryTimeoutMs)}`,
    )
  if ('pool' in options && typeof options.pool?.connect === 'function')
    return { partitions, queryTimeoutMs, pool: options.pool, end: () => Promise.resolve() }
  if (!('connectionString' in options) || typeof options.connectionString !== 'string')
    throw new AuditLogError(
      'INVALID_OPTION',
      'the Postgres store needs a connectionString, or a pool of pg',
    )
  const own = openPool(options.connectionString)
  return { partitions, queryTimeoutMs, pool: own, end: () => own.end() }
}

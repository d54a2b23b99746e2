import { AuditLogError } from '../../../src/errors.js'
import type { Clock } from '../../../src/event/timestamp.js'
import { type QueryTimeoutOptions, readQueryTimeout } from '../../../src/store/query-timeout.js'
import { openPool, type PostgresPool } from '../connection/client.js'
import { openFailoverPool } from '../connection/failover-pool.js'
import { hostsOf } from '../connection/hosts.js'
import { createTimelines, type Timelines } from '../connection/timelines.js'
import type { Partitions } from '../schema/names.js'

export interface CommonOptions extends QueryTimeoutOptions {
  /**
   * The database schema that holds the log's tables; it is created if it does not exist. Each schema
   * is a separate log.
   * @default 'daybook'
   */
  readonly schema?: string
  /**
   * A pool of connections to a replica, for reading. While the replica lacks something that this
   * process has written, the primary answers.
   */
  readonly readPool?: PostgresPool
  /**
   * The period (in UTC) of one partition of a new log's table of events. Removing all events of a
   * period drops its partition. An existing log keeps the partitions that it was created with.
   * @default 'month'
   */
  readonly partitions?: Partitions
  /**
   * Maximum number of events that are not in the index, at least 16,384. While there are more, recording and
   * importing wait for the index, but an event no longer than half of its time to the deadline, and not for an index
   * that has stopped growing. Each process may exceed it by an eighth. `Infinity`: nothing waits.
   * @default 65536
   */
  readonly maxUnindexed?: number
  /**
   * Only reads: nothing is created, migrated, moved or indexed. The role needs USAGE on the schema and SELECT
   * on its tables and sequences. Methods that write reject with `READ_ONLY`.
   * @default false
   */
  readonly readOnly?: boolean
  /**
   * `'never'`: the schema is neither created nor migrated; calls reject with `SCHEMA_MISMATCH` unless it has this version.
   * @default 'auto'
   */
  readonly migrate?: 'auto' | 'never'
  /** Returns the current time in microseconds, for tests. @default the database server's clock */
  readonly clock?: Clock
}

/** The server, or those of which one accepts writes. */
export type ServerOptions =
  | {
      /**
       * `postgres://user:password@host:port/database`; the store opens its own pool. Of several hosts, as in
       * `postgres://user:password@host1:port1,host2:port2/database`, it uses the one that accepts writes.
       */
      readonly connectionString: string
      /** Hosts in place of those of `connectionString`: names or addresses, with or without a port. */
      readonly hosts?: readonly string[]
    }
  | {
      /** A `Pool` of pg. The store does not end it. */
      readonly pool: PostgresPool
    }

export type PostgresStoreOptions = CommonOptions & ServerOptions

type ResolvedOptions = Required<
  Pick<CommonOptions, 'partitions' | 'queryTimeoutMs' | 'maxUnindexed'>
> & {
  readonly pool: PostgresPool
  /** Those that the connections of the pool have led to. */
  readonly timelines: Timelines
  readonly end: () => Promise<void>
}

/** Two segments: fewer than one are never indexed. */
const MIN_UNINDEXED = 16_384

/** Throws `MISSING_DEPENDENCY` or `INVALID_OPTION`. */
export function readOptions(options: PostgresStoreOptions): ResolvedOptions {
  const { partitions = 'month', maxUnindexed = 65_536 } = options
  if (!['month', 'day', 'none'].includes(partitions))
    throw new AuditLogError(
      'INVALID_OPTION',
      `partitions must be month, day or none; it is ${partitions}`,
    )
  const isWhole = Number.isSafeInteger(maxUnindexed) || maxUnindexed === Infinity
  if (!isWhole || maxUnindexed < MIN_UNINDEXED)
    throw new AuditLogError(
      'INVALID_OPTION',
      `maxUnindexed must be a whole number of at least ${MIN_UNINDEXED}, or Infinity; it is ${String(maxUnindexed)}`,
    )
  const queryTimeoutMs = readQueryTimeout(options)
  return { partitions, queryTimeoutMs, maxUnindexed, ...openServer(options) }
}

/** Opens the pool of a server, unless it is given; `max` bounds its connections. Throws as {@link readOptions}. */
export function openServer(
  options: ServerOptions,
  max?: number,
): Pick<ResolvedOptions, 'pool' | 'timelines' | 'end'> {
  const timelines = createTimelines()
  if ('pool' in options && typeof options.pool?.connect === 'function')
    return { timelines, pool: options.pool, end: () => Promise.resolve() }
  if (!('connectionString' in options) || typeof options.connectionString !== 'string')
    throw new AuditLogError(
      'INVALID_OPTION',
      'the Postgres store needs a connectionString, or a pool of pg',
    )
  const hosts = hostsOf(options.connectionString, options.hosts)
  const own =
    hosts.length === 1
      ? openPool(hosts[0].connectionString, max)
      : openFailoverPool(hosts, timelines, max)
  return { timelines, pool: own, end: () => own.end() }
}

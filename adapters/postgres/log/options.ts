import { invalidOption } from '../../../src/errors.js'
import { milliseconds } from 'date-fns/milliseconds'
import { type Duration, durationFault } from '../../../src/event/duration.js'
import type { Clock } from '../../../src/event/timestamp.js'
import {
  QUERY_TIMEOUT_OPTIONS,
  type QueryTimeoutOptions,
  readQueryTimeout,
} from '../../../src/store/query-timeout.js'
import type { PostgresPool } from '../connection/client.js'
import { type EndedPool, openPool } from '../connection/pools.js'
import { openFailoverPool } from '../ha/failover-pool.js'
import { type Host, hostsOf } from '../ha/hosts.js'
import { createNodes, type Nodes } from '../citus/nodes.js'
import { findByName, findByPool, type FindPrimary, sharedFind } from '../ha/server-probe.js'
import { createTimelines, type Timelines } from '../ha/timelines.js'
import type { Partitions } from '../schema/names.js'
import { createReplicas, type Replica, type Replicas } from '../replicas/replicas.js'
import { checkOptions, type OptionNames, requireOptions } from '../../../src/options.js'

export interface CommonOptions extends QueryTimeoutOptions {
  /**
   * The database schema that holds the log's tables; it is created if it does not exist. Each schema
   * is a separate log.
   * @default 'daybook'
   */
  readonly schema?: string
  /**
   * A pool of connections to a replica, for reading: as `replicas` with one member.
   */
  readonly readPool?: PostgresPool
  /**
   * Servers to read from: connection strings, in which each host is a replica, or pools of pg. Reads go to a
   * replica that answers and has what this process has written and what the read demands; otherwise the primary
   * answers. One that fails is skipped for 0.25 to 30 seconds.
   * @default none
   */
  readonly replicas?: readonly (string | PostgresPool)[]
  /**
   * Maximum lag of a replica that may answer reads. The primary is asked for its WAL position
   * several times in this period. While it does not answer, no replica does.
   * @default any lag
   */
  readonly maxLag?: Duration
  /**
   * The period (in UTC) of one partition of a new log's table of events. Removing all events of a
   * period drops its partition. An existing log keeps the partitions that it was created with.
   * @default 'month'
   */
  readonly partitions?: Partitions
  /**
   * Maximum number of events that are not in the index, at least 16,384. While there are more, recording and
   * importing wait for the index. An event waits at most half of its time to the deadline. Nothing waits for an index
   * that has stopped growing. Each process may exceed the maximum by an eighth. `Infinity`: nothing waits.
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

interface SessionOptions {
  /**
   * The address of the server itself if the other connections lead through a pooler in transaction mode, such as
   * PgBouncer: for LISTEN and locks of a session. Used by a few connections.
   * @default the other connections
   */
  readonly listenConnectionString?: string
}

interface CitusOption {
  /**
   * True if Citus places the log on one of its nodes. `connectionString` then names the coordinator, and the store
   * connects to the node itself. `{ nodes }` means `true`, with addresses of nodes in place of the ones that
   * Citus has, such as `{ 'worker-1:5432': 'db1.example.org:6001' }`.
   * @default false
   */
  readonly citus?: boolean | { readonly nodes: Readonly<Record<string, string>> }
}

/** The server, or several servers of which one accepts writes. */
export type ServerOptions = SessionOptions &
  CitusOption &
  (
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
  )

export type PostgresStoreOptions = CommonOptions & ServerOptions

export const SERVER_OPTIONS: OptionNames<ServerOptions> = {
  connectionString: true,
  hosts: true,
  pool: true,
  listenConnectionString: true,
  citus: true,
}

const STORE_OPTIONS: OptionNames<PostgresStoreOptions> = {
  ...SERVER_OPTIONS,
  ...QUERY_TIMEOUT_OPTIONS,
  schema: true,
  readPool: true,
  replicas: true,
  maxLag: true,
  partitions: true,
  maxUnindexed: true,
  readOnly: true,
  migrate: true,
  clock: true,
}

/** Throws `INVALID_OPTION` for an unknown option. */
export const checkStoreOptions = (options: PostgresStoreOptions): void =>
  requireOptions(options, STORE_OPTIONS, 'postgresStore')

export type ResolvedOptions = Required<
  Pick<CommonOptions, 'partitions' | 'queryTimeoutMs' | 'maxUnindexed'>
> &
  Server & {
    readonly replicas: Replicas
    readonly maxLagMs: number | undefined
  }

/** An opened server. */
export interface Server {
  readonly pool: PostgresPool
  /** For work that needs a session; `undefined` if `pool` does it. */
  readonly sessionPool: PostgresPool | undefined
  /** True if Citus places the log on a node. */
  readonly citus: boolean
  /** The nodes of Citus; `undefined` if the options have only a pool. */
  readonly nodes?: Nodes
  /** Timelines of the servers that connections of the pool have reached. */
  readonly timelines: Timelines
  readonly findPrimary: FindPrimary | undefined
  readonly end: () => Promise<void>
}

/** Throws `INVALID_OPTION`. */
export function readMaxLag(
  { maxLag }: Pick<CommonOptions, 'maxLag'>,
  hasReplicas: boolean,
): number | undefined {
  if (maxLag === undefined) return undefined
  const fault = durationFault(maxLag)
  if (fault) throw invalidOption(`maxLag ${fault}`)
  if (!hasReplicas) throw invalidOption('maxLag needs replicas or a readPool')
  return milliseconds(maxLag)
}

interface OpenedReplicas {
  readonly replicas: readonly Replica[]
  readonly end: () => Promise<void>
}

/** A URL, or a path that pg reads as the path of a socket. */
const CONNECTION_STRING = /^(?:postgres(?:ql)?:\/\/|socket:|\/)/i

/** The messages do not repeat the text, which may hold a password. */
function readConnectionString(given: unknown, option: string): string {
  if (typeof given === 'string' && CONNECTION_STRING.test(given)) return given
  const is = given === '' ? '; it is empty' : ''
  throw invalidOption(`${option} must be a text that begins with postgres:// or postgresql://${is}`)
}

const isPool = (value: unknown): value is PostgresPool =>
  typeof (value as PostgresPool | undefined)?.connect === 'function'

/** Returns the replicas that reads go to, from `readPool` or `replicas`. Throws `INVALID_OPTION`. */
export function readReplicas({
  readPool,
  replicas = [],
}: CommonOptions): readonly (PostgresPool | Host)[] {
  if (!Array.isArray(replicas))
    throw invalidOption('replicas must be an array of connection strings or pools of pg')
  if (readPool !== undefined && !isPool(readPool))
    throw invalidOption('readPool must be a pool of pg')
  if (readPool && replicas.length > 0) throw invalidOption('give readPool or replicas, not both')
  const given: readonly unknown[] = readPool ? [readPool] : replicas
  return given.flatMap((one, i): readonly (PostgresPool | Host)[] => {
    if (isPool(one)) return [one]
    if (typeof one !== 'string' || one === '')
      throw invalidOption(`replica ${i + 1} must be a connection string, or a pool of pg`)
    return hostsOf(readConnectionString(one, `replica ${i + 1}`), undefined)
  })
}

/** Opens no connection yet; `max` bounds the connections to each replica. */
export function openReplicas(
  targets: readonly (PostgresPool | Host)[],
  max?: number,
): OpenedReplicas {
  const own: EndedPool[] = []
  const opened = targets.map((target, i): Replica => {
    const number = `replica ${i + 1}`
    if (isPool(target)) return { name: number, pool: target }
    const pool = openPool(target.connectionString, max)
    own.push(pool)
    return { name: target.name || number, pool }
  })
  return {
    replicas: opened,
    async end() {
      await Promise.all(own.map((pool) => pool.end()))
    },
  }
}

interface OpenedPrimary {
  readonly pool: PostgresPool
  readonly find: Parameters<typeof sharedFind>[0]
  readonly end: () => Promise<void>
}

function openPrimary(
  hosts: readonly [Host, ...Host[]],
  timelines: Timelines,
  max?: number,
): OpenedPrimary {
  if (hosts.length > 1) {
    const pool = openFailoverPool(hosts, timelines, max)
    return { pool, find: pool.find, end: pool.end }
  }
  const { connectionString } = hosts[0]
  const pool = openPool(connectionString, max)
  return { pool, find: findByName({ connectionString }, timelines), end: () => pool.end() }
}

function openSessions(
  { listenConnectionString: text }: ServerOptions,
  timelines: Timelines,
): OpenedPrimary | undefined {
  if (text === undefined) return undefined
  const address = readConnectionString(text, 'listenConnectionString')
  return openPrimary(hostsOf(address, undefined), timelines)
}

/** The size of two segments: fewer events than one segment has are never indexed. */
const MIN_UNINDEXED = 16_384

interface CitusSettings {
  readonly citus: boolean
  /** Addresses in place of those that Citus knows. */
  readonly addresses: Readonly<Record<string, string>>
}

function readCitus({ citus }: CitusOption): CitusSettings {
  if (citus === undefined || typeof citus === 'boolean')
    return { citus: citus ?? false, addresses: {} }
  if (typeof citus === 'object') checkOptions(citus, { nodes: true }, 'citus')
  const addresses: unknown = citus?.nodes
  if (typeof addresses !== 'object' || addresses === null)
    throw invalidOption(
      `citus must be true, false or an object with nodes; it is ${JSON.stringify(citus)}`,
    )
  return { citus: true, addresses: addresses as CitusSettings['addresses'] }
}

function nodesOf(
  connectionString: string,
  { addresses }: CitusSettings,
  max: number | undefined,
): Nodes {
  const stringOf = (address: string): string =>
    hostsOf(connectionString, [address])[0].connectionString
  // Throws for an invalid address.
  for (const address of Object.values(addresses)) stringOf(address)
  return createNodes((address, onLoss) =>
    openPool(stringOf(addresses[address] ?? address), max, onLoss),
  )
}

/** Throws `MISSING_DEPENDENCY` or `INVALID_OPTION`. */
export function readOptions(options: PostgresStoreOptions): ResolvedOptions {
  const { partitions = 'month', maxUnindexed = 65_536 } = options
  if (!['month', 'day', 'none'].includes(partitions))
    throw invalidOption(`partitions must be month, day or none; it is ${partitions}`)
  const isWhole = Number.isSafeInteger(maxUnindexed) || maxUnindexed === Infinity
  if (!isWhole || maxUnindexed < MIN_UNINDEXED)
    throw invalidOption(
      `maxUnindexed must be a whole number of at least ${MIN_UNINDEXED}, or Infinity; it is ${String(maxUnindexed)}`,
    )
  const queryTimeoutMs = readQueryTimeout(options)
  const targets = readReplicas(options)
  const maxLagMs = readMaxLag(options, targets.length > 0)
  const server = openServer(options)
  const opened = openReplicas(targets)
  return {
    ...server,
    partitions,
    queryTimeoutMs,
    maxUnindexed,
    maxLagMs,
    replicas: createReplicas(opened.replicas),
    async end() {
      await Promise.all([server.end(), opened.end()])
    },
  }
}

/** Opens the pools of a server, unless one is given; `max` bounds its connections. Throws as {@link readOptions}. */
export function openServer(options: ServerOptions, max?: number): Server {
  const timelines = createTimelines()
  const settings = readCitus(options)
  const sessions = openSessions(options, timelines)
  const opened = { timelines, sessionPool: sessions?.pool, citus: settings.citus }
  if ('pool' in options && isPool(options.pool)) {
    if ('hosts' in options && options.hosts !== undefined)
      throw invalidOption('hosts needs a connectionString: a pool has hosts of its own')
    const find = findByPool(options.pool, timelines)
    return {
      ...opened,
      pool: options.pool,
      findPrimary: find && sharedFind(find),
      end: async () => sessions?.end(),
    }
  }
  if (!('connectionString' in options) || typeof options.connectionString !== 'string')
    throw invalidOption('the Postgres store needs a connectionString, or a pool of pg')
  const connectionString = readConnectionString(options.connectionString, 'connectionString')
  const { pool, find, end } = openPrimary(hostsOf(connectionString, options.hosts), timelines, max)
  const nodes = nodesOf(connectionString, settings, max)
  return {
    ...opened,
    nodes,
    pool,
    findPrimary: sharedFind(find),
    async end() {
      await Promise.all([end(), sessions?.end(), nodes.end()])
    },
  }
}

import { timeoutSignal } from '../../src/async/timeout-signal.js'
import { invalidOption } from '../../src/errors.js'
import { compareText } from '../../src/filter/values.js'
import { isKey, type KeysOptions, type LogStores } from '../../src/store/log-stores.js'
import type { EventStore } from '../../src/store/store.js'
import {
  QUERY_TIMEOUT_OPTIONS,
  type QueryTimeoutOptions,
  readQueryTimeout,
} from '../../src/store/query-timeout.js'
import { ask, type TextRow } from './connection/client.js'
import { withConnection } from './connection/connection.js'
import { rejecting } from './log/calls.js'
import { createListening, type Listening } from './log/listening.js'
import {
  type CommonOptions,
  openReplicas,
  openServer,
  readMaxLag,
  readReplicas,
  type Server,
  SERVER_OPTIONS,
  type ServerOptions,
} from './log/options.js'
import { createUsedSchemas, type UsedSchemas } from './connection/used-schemas.js'
import { openPostgresStore } from './postgres-store.js'
import type { Partitions } from './schema/names.js'
import { checkNamed, type OptionNames, requireOptions } from '../../src/options.js'

/** The options of `postgresStore` that all logs share. */
type StoreOptions = QueryTimeoutOptions &
  Pick<CommonOptions, 'partitions' | 'maxUnindexed' | 'readOnly' | 'migrate' | 'clock'>

interface CommonLogsOptions extends Omit<StoreOptions, 'partitions'> {
  /**
   * As in `postgresStore`.
   * @default 'none'
   */
  readonly partitions?: Partitions
  /**
   * The start of the names of the schemas: at most 8 lower-case letters and digits, of which the last is followed by `_`.
   * The rest of the name is the key of the log.
   * @default 'daybook_'
   */
  readonly schemaPrefix?: string
  /**
   * Most connections to a server, at least 3, with that which listens for notifications. Not for pools of your own.
   * @default 10
   */
  readonly maxConnections?: number
}

/** The server that accepts writes, and its replicas. All logs of the cluster use them. */
type ClusterOptions = ServerOptions & Pick<CommonOptions, 'replicas' | 'maxLag'>

export type PostgresLogsOptions = CommonLogsOptions &
  (
    | ClusterOptions
    | {
        /** Several clusters, by names of your own. */
        readonly clusters: Readonly<Record<string, ClusterOptions>>
        /** The name of the cluster that has the log, always the same for a key. */
        readonly clusterOf: (key: string) => string
      }
  )

const CLUSTER_OPTIONS: OptionNames<ClusterOptions> = {
  ...SERVER_OPTIONS,
  replicas: true,
  maxLag: true,
}

const LOGS_OPTIONS: OptionNames<PostgresLogsOptions> = {
  ...CLUSTER_OPTIONS,
  ...QUERY_TIMEOUT_OPTIONS,
  partitions: true,
  maxUnindexed: true,
  readOnly: true,
  migrate: true,
  clock: true,
  schemaPrefix: true,
  maxConnections: true,
  clusters: true,
  clusterOf: true,
}

/** The servers of one cluster. */
interface Cluster extends Server {
  readonly name: string
  /** One connection for all logs. */
  readonly listening: Listening
  /** Options of `postgresStore` for each log. */
  readonly reading: Pick<CommonOptions, 'replicas' | 'maxLag'>
  readonly usedSchemas: UsedSchemas
  /** The stores that are not closed. */
  readonly open: Set<EventStore>
}

const DEFAULT_PREFIX = 'daybook_'
/** No prefix is the start of another one. */
const PREFIX = /^[a-z][a-z0-9]{0,6}_$/
const DEFAULT_CONNECTIONS = 10
/** One listens, one writes, and one cancels. */
const MIN_CONNECTIONS = 3

function readPrefix({ schemaPrefix = DEFAULT_PREFIX }: CommonLogsOptions): string {
  if (typeof schemaPrefix === 'string' && PREFIX.test(schemaPrefix) && schemaPrefix !== 'pg_')
    return schemaPrefix
  throw invalidOption(
    `schemaPrefix must be 1 to 7 lower-case letters and digits, then _, and not pg_; it is ${JSON.stringify(schemaPrefix)}`,
  )
}

function readMaxConnections({ maxConnections = DEFAULT_CONNECTIONS }: CommonLogsOptions): number {
  if (Number.isInteger(maxConnections) && maxConnections >= MIN_CONNECTIONS) return maxConnections
  throw invalidOption(
    `maxConnections must be a whole number of at least ${MIN_CONNECTIONS}; it is ${String(maxConnections)}`,
  )
}

interface Clusters {
  readonly all: readonly Cluster[]
  readonly of: (key: string) => Cluster
}

function openCluster(name: string, options: ClusterOptions, max: number): Cluster {
  const targets = readReplicas(options)
  readMaxLag(options, targets.length > 0)
  const opened = openServer(options, max)
  const { pool, sessionPool = pool, timelines } = opened
  const replicas = openReplicas(targets, max)
  const { maxLag } = options
  const open = new Set<EventStore>()
  return {
    name,
    ...opened,
    listening: createListening(sessionPool, timelines),
    usedSchemas: createUsedSchemas(() => open.size),
    open,
    // The logs share the pools, and do not end them.
    reading: {
      replicas: replicas.replicas.map(({ pool }) => pool),
      ...(maxLag !== undefined && { maxLag }),
    },
    async end() {
      await Promise.all([opened.end(), replicas.end()])
    },
  }
}

/** The store, which is in `open` until it is closed. */
function noteOpen(store: EventStore, open: Set<EventStore>): EventStore {
  open.add(store)
  return {
    ...store,
    close() {
      open.delete(store)
      return store.close()
    },
  }
}

/** Opens no connection yet. */
function openClusters(options: PostgresLogsOptions): Clusters {
  const max = readMaxConnections(options)
  if (!('clusters' in options)) {
    const cluster = openCluster('', options, max)
    return { all: [cluster], of: () => cluster }
  }
  const { clusters, clusterOf } = options
  checkNamed(clusters ?? null, 'clusters')
  for (const [name, cluster] of Object.entries(clusters))
    requireOptions(cluster, CLUSTER_OPTIONS, `the cluster ${name}`)
  if (typeof clusterOf !== 'function')
    throw invalidOption('clusterOf must be a function of the key of a log')
  const byName = new Map(
    Object.entries(clusters).map(([name, server]) => [name, openCluster(name, server, max)]),
  )
  return {
    all: [...byName.values()],
    of(key) {
      const name = clusterOf(key)
      const found = byName.get(name)
      if (found) return found
      throw invalidOption(
        `clusterOf returned ${JSON.stringify(name)} for the log ${JSON.stringify(key)}; the clusters are ${[...byName.keys()].join(', ')}`,
      )
    },
  }
}

/** The names of schemas that hold a log, after one of them. Names compare by bytes, which is the order of code points. */
const SCHEMAS = `
  SELECT nspname::text FROM pg_catalog.pg_namespace
  WHERE starts_with(nspname::text, $1) AND nspname::text COLLATE "C" > $2
    AND length(nspname::text) > length($1)
    AND EXISTS (SELECT FROM pg_class WHERE relnamespace = pg_namespace.oid AND relname = 'schema_version')
  ORDER BY nspname::text COLLATE "C" LIMIT $3`

const HAS_SCHEMA = `SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname = $1 AND relname = 'schema_version'`

/**
 * The stores of many logs, for `AuditLogs`: a schema for each log, on one cluster or several. The logs of a cluster share a pool
 * with a bounded number of connections, of which one listens for the notifications of all logs. Throws `MISSING_DEPENDENCY` or
 * `INVALID_OPTION`.
 */
export function postgresLogs(options: PostgresLogsOptions): LogStores {
  requireOptions(options, LOGS_OPTIONS, 'postgresLogs')
  const prefix = readPrefix(options)
  const queryTimeoutMs = readQueryTimeout(options)
  const { partitions = 'none', maxUnindexed, readOnly, migrate, clock } = options
  const given = { partitions, queryTimeoutMs, maxUnindexed, readOnly, migrate, clock }
  const common = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as StoreOptions
  const clusters = openClusters(options)

  const query = async (
    { pool }: Cluster,
    signal: AbortSignal | undefined,
    text: string,
    ...values: unknown[]
  ): Promise<readonly TextRow[]> => {
    using wait = timeoutSignal(queryTimeoutMs, signal)
    const found = withConnection(pool, wait.signal, (client) => ask(client, text, ...values))
    return await rejecting(found, signal)
  }
  const schemasOf = async (
    cluster: Cluster,
    { after, limit, signal }: KeysOptions,
  ): Promise<readonly string[]> => {
    const last = after === undefined ? '' : prefix + after
    const rows = await query(cluster, signal, SCHEMAS, prefix, last, limit)
    return rows.map(([name]) => name!.slice(prefix.length))
  }

  /** The next keys of all clusters, and the last of them; `undefined` if no cluster has more. */
  const readPage = async (
    wanted: KeysOptions,
  ): Promise<{ readonly keys: readonly string[]; readonly end: string | undefined }> => {
    const pages = await Promise.all(
      clusters.all.map(async (cluster) => ({ cluster, keys: await schemasOf(cluster, wanted) })),
    )
    // A cluster that has more keys may have some before those of the others.
    const ends = pages.flatMap(({ keys }) => (keys.length < wanted.limit ? [] : [keys.at(-1)!]))
    const [end] = ends.toSorted(compareText)
    const keys = pages
      .flatMap(({ cluster, keys }) =>
        keys.filter((key) => isKey(key) && clusters.of(key) === cluster),
      )
      .filter((key) => end === undefined || compareText(key, end) <= 0)
    return { keys: keys.toSorted(compareText), end }
  }

  const keys: LogStores['keys'] = async (wanted) => {
    const found: string[] = []
    for (let { after } = wanted; ;) {
      const page = await readPage({ ...wanted, after })
      found.push(...page.keys)
      if (page.end === undefined || found.length >= wanted.limit)
        return found.slice(0, wanted.limit)
      after = page.end
    }
  }

  return {
    open(key) {
      const { pool, citus, reading, open, ...shared } = clusters.of(key)
      const own = { ...common, ...reading, pool, schema: prefix + key, citus }
      return noteOpen(openPostgresStore(own, shared), open)
    },
    keys,
    async has(key, { signal } = {}) {
      const rows = await query(clusters.of(key), signal, HAS_SCHEMA, prefix + key)
      return rows.length > 0
    },
    async close() {
      await Promise.all(clusters.all.map(({ end }) => end()))
    },
  }
}

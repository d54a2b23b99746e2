import type { Clock, Microseconds } from '../../../src/event/timestamp.js'
import type { ClockGuard } from '../../../src/store/clock-guard.js'
import { createDamageReporter, type DamageReporter } from '../../../src/store/damage.js'
import { isOutcomeUnknown } from '../../../src/errors.js'
import { isUnconfirmed, type PostgresPool, type PostgresPoolClient } from '../connection/client.js'
import { withConnection } from '../connection/connection.js'
import type { LogPool } from '../citus/placed-pool.js'
import { isLostConnection } from '../connection/failures.js'
import { createPoolingDetector, type PoolingDetector } from '../connection/pooling.js'
import { type FindPrimary, watchAnswers } from '../ha/server-probe.js'
import type { UsedSchemas } from '../connection/used-schemas.js'
import { timeoutSignal } from '../../../src/async/timeout-signal.js'
import { createTimelines, type Timelines } from '../ha/timelines.js'
import type { Names, Partitions } from '../schema/names.js'
import { createDoubts, type Doubts, noteBrokenCommit } from './doubts.js'
import { createDurability, type Durability } from './durability.js'
import { createRisks, poolingRisk } from './risks.js'
import { makePartitions } from '../schema/partition-changes.js'
import { missingPeriods, periodsAhead } from '../schema/partitions.js'
import { raiseHighWater } from '../schema/high-water.js'
import { readServer } from '../schema/server.js'
import { prepareSchema, readSchema, type SchemaState } from '../schema/schema.js'
import { checkPlaceSql } from '../citus/citus.js'

/** One log in one database. */
export interface PostgresLog {
  readonly names: Names
  /**
   * The time by the clock of the options, or while the server's clock is in doubt, the expected time; `undefined` if
   * the server's clock counts.
   */
  readonly now: () => Microseconds | undefined
  /** Takes a reading of the server's clock. */
  readonly noteServerTime: (time: Microseconds) => void
  /**
   * The schema as it was found when it was prepared, which is again when a connection leads to another
   * server; `undefined` before the first connection.
   */
  state(): SchemaState | undefined
  readonly durability: Durability
  readonly damages: DamageReporter
  /** The server that a connection leads to, see `serverSql`. To be called within `use`. */
  server(client: PostgresPoolClient): string
  /** Why acknowledged events may be lost, or were lost. To be called within `use`. */
  risks(client: PostgresPoolClient): Promise<readonly string[]>
  /** Rejects if this process has used a server that replaced the one of the connection. */
  checkTimeline(client: PostgresPoolClient): Promise<unknown>
  /** See {@link Timelines.cluster}. */
  cluster(client: PostgresPoolClient): string
  /** Notes that a connection of a replica is used for the log; see {@link UsedSchemas}. `use` does so itself. */
  noteUse(client: PostgresPoolClient): void
  /** How the table of events is partitioned. To be called within `use`. */
  partitions(): Partitions
  /** The partitions as this process has last read or made them. */
  knownPartitions(): KnownPartitions
  /** Creates the partitions of these times that are missing. To be called within `use`. */
  makePartitions(client: PostgresPoolClient, times: readonly Microseconds[]): Promise<void>
  /**
   * Runs `act` with a connection that may change tables: with the one of `use`, or on Citus with one to the coordinator.
   */
  define<Result>(
    client: PostgresPoolClient,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result>
  /** A statement to be sent before a snapshot is read; '' if there is none. It fails if the log is elsewhere by now. */
  placeSql(): string
  /**
   * Like `withConnection`, after the schema has been created or migrated. Resolves once a synchronous
   * standby has confirmed what was committed, or rejects with `OUTCOME_UNKNOWN`.
   */
  use<Result>(
    signal: AbortSignal,
    act: (client: PostgresPoolClient) => Promise<Result>,
    end?: number,
  ): Promise<Result>
  /**
   * Like `use`, for work that needs a session of its own: session locks, LISTEN. The connection does not lead through a
   * pooler, as far as the host has given a direct address.
   */
  useSession<Result>(
    signal: AbortSignal,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result>
  /** False if the connections of `useSession` lead through a pooler in transaction mode. Known after the first of them. */
  hasSessions(): boolean
  /**
   * Like `use`, for work that finds out whether earlier work has taken effect: also what this process
   * has committed before is confirmed. Rejects with `OUTCOME_UNKNOWN` too if the connection broke, or was
   * given up, during a commit of the work.
   */
  write<Result>(
    signal: AbortSignal,
    act: (client: PostgresPoolClient) => Promise<Result>,
  ): Promise<Result>
}

/** Connections, and how they are pooled on their way. */
export interface Connections {
  readonly pool: PostgresPool
  readonly pooling: PoolingDetector
}

export interface LogOptions {
  readonly names: Names
  readonly pool: LogPool
  /** Connections for work that needs a session. @default those of `pool` */
  readonly sessions?: Connections
  /** Shared with the pool, if that has read some. */
  readonly timelines?: Timelines
  /** Called while the server does not answer. @default nothing is asked */
  readonly findPrimary?: FindPrimary | undefined
  /** Shared with the other logs of the pool. @default connections stay open */
  readonly usedSchemas?: UsedSchemas | undefined
  readonly partitions: Partitions
  readonly clock: Clock | undefined
  /** Judges the server's clock, unless there is a `clock`. */
  readonly guard?: ClockGuard
  /** Never creates, migrates or extends the schema. */
  readonly readOnly?: boolean
  /** Never creates or migrates the schema. @default false */
  readonly isFixed?: boolean | undefined
  /** The time of the newest event that was acknowledged in this process. */
  readonly acknowledged?: () => Microseconds
  readonly onPrepared?: ((state: SchemaState) => void) | undefined
}

/** Creates or migrates the schema unless it is fixed, and returns its state. */
async function prepareLog(
  client: PostgresPoolClient,
  { names, partitions, isFixed }: LogOptions,
): Promise<SchemaState> {
  const prepared = isFixed
    ? await readSchema(client, names)
    : await prepareSchema(client, names, partitions)
  return raiseHighWater(client, names, prepared)
}

type Use = <Result>(
  source: Connections,
  signal: AbortSignal,
  act: (client: PostgresPoolClient) => Promise<Result>,
  end?: number,
) => Promise<Result>

/** Connections are checked before each use; a commit that was not confirmed is a doubt. */
export function createUse({
  check,
  doubts,
  findPrimary,
}: {
  readonly check: (client: PostgresPoolClient, pooling: PoolingDetector) => Promise<void>
  readonly doubts: Doubts
  readonly findPrimary: FindPrimary | undefined
}): Use {
  return async (source, signal, act, end) => {
    let hasBegun = false
    const work = async (client: PostgresPoolClient) => {
      using _watch = findPrimary && watchAnswers(client, findPrimary)
      await check(client, source.pooling)
      hasBegun = true
      const result = await act(client)
      if (isUnconfirmed(client)) await doubts.settle(client, signal)
      return result
    }
    try {
      return await withConnection(source.pool, signal, work, end)
    } catch (error) {
      // If the connection broke, the work may have committed before the standby confirmed it.
      if (isOutcomeUnknown(error) || (hasBegun && isLostConnection(error))) doubts.add()
      throw error
    }
  }
}

/** See {@link PostgresLog.write}. */
export const createWrite =
  (use: PostgresLog['use'], doubts: Doubts): PostgresLog['write'] =>
  (signal, act) =>
    noteBrokenCommit((note) =>
      use(signal, async (client) => {
        note(client)
        const result = await act(client)
        if (doubts.isAny()) await doubts.settle(client, signal)
        return result
      }),
    )

/** Other processes may be changing tables. */
const DEFINE_MS = 30_000

export interface KnownPartitions {
  readonly count: number
  /** Where the oldest one begins. */
  readonly oldest: Microseconds | undefined
}

/** How a log's tables are changed, and what its snapshots begin with. */
function createDefiner(names: Names, pool: LogPool, timelines: Timelines) {
  let known: KnownPartitions = { count: 0, oldest: undefined }

  const define: PostgresLog['define'] = async (client, act) => {
    const definer = pool.definer?.()
    if (!definer) return act(client)
    using wait = timeoutSignal(DEFINE_MS)
    return await withConnection(definer, wait.signal, act)
  }

  const addPartitions = async (
    client: PostgresPoolClient,
    partitions: Partitions,
    times: readonly Microseconds[],
  ): Promise<void> => {
    const { missing, attached } = await missingPeriods(client, names, partitions, times)
    const all = [...attached, ...missing]
    const oldest = all.length > 0 ? Math.min(...all.map(({ from }) => from)) : undefined
    known = { count: all.length, oldest }
    if (missing.length > 0)
      await define(client, (definer) =>
        makePartitions(definer, names, missing, timelines.cluster(client)),
      )
  }

  return {
    define,
    addPartitions,
    knownPartitions: () => known,
    placeSql: () => (pool.definer?.() ? `${checkPlaceSql(names)};` : ''),
  }
}

export function createLog(options: LogOptions): PostgresLog {
  const { names, pool, findPrimary, usedSchemas, clock, guard, readOnly, onPrepared } = options
  const { timelines = createTimelines(), acknowledged = () => 0 } = options
  const { sessions = { pool, pooling: createPoolingDetector(pool) } } = options
  const isSame = sessions.pool === pool
  const pooling = isSame ? sessions.pooling : createPoolingDetector(pool)
  const hasSessions = (): boolean => sessions.pooling.found() !== 'transaction'
  const risks = createRisks(() => (hasSessions() ? undefined : poolingRisk(!isSame)))
  let state: SchemaState | undefined
  const servers = new WeakMap<PostgresPoolClient, string>()
  const doubts = createDoubts()
  const durability = createDurability()

  const { addPartitions, ...definer } = createDefiner(names, pool, timelines)

  const prepare = async (client: PostgresPoolClient): Promise<SchemaState> => {
    if (readOnly) {
      state = await readSchema(client, names)
      await addPartitions(client, state.partitions, [])
      return state
    }
    // Read first: meanwhile other connections may record on the same server.
    const newestBefore = acknowledged()
    const found = await prepareLog(client, options)
    const newest = Math.max(clock?.() ?? found.serverTime, found.highWater)
    await addPartitions(client, found.partitions, periodsAhead(newest, found.partitions))
    if (!state) guard?.begin(found.highWater)
    await risks.note(client, found, newestBefore)
    durability.forget()
    onPrepared?.(found)
    return (state = found)
  }

  /** Prepares the schema before the first use of it on a server. Rejects if the server has been replaced. */
  const check = async (client: PostgresPoolClient, detector: PoolingDetector): Promise<void> => {
    await timelines.check(client)
    const isMoving = (await detector.detect(client)) === 'transaction'
    const known = state
    if (known && servers.has(client) && !isMoving) return
    usedSchemas?.note(client, names.schemaName)
    const isKnown = known && (await readServer(client, names)) === known.server
    // Behind a pooler, the same connection may lead to another server than before.
    if (isMoving && !isKnown) await timelines.check(client, true)
    servers.set(client, (isKnown ? known : await prepare(client)).server)
  }

  const useOf = createUse({ check, doubts, findPrimary })

  const use: PostgresLog['use'] = (signal, act, end) => useOf({ pool, pooling }, signal, act, end)

  return {
    names,
    durability,
    damages: createDamageReporter(),
    useSession: (signal, act) => useOf(sessions, signal, act),
    hasSessions,
    now: () => (clock ? clock() : guard?.doubted()),
    noteServerTime: (time) => (clock ? undefined : guard?.judge(time)),
    state: () => state,
    server: (client) => servers.get(client)!,
    risks: async (client) => (readOnly ? [] : risks.read(client)),
    checkTimeline: (client) => timelines.check(client),
    cluster: (client) => timelines.cluster(client),
    noteUse: (client) => usedSchemas?.note(client, names.schemaName),
    partitions: () => state!.partitions,
    makePartitions: (client, times) => addPartitions(client, state!.partitions, times),
    ...definer,
    use,
    write: createWrite(use, doubts),
  }
}
